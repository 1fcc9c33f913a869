use super::*;
use crate::count::cutters::ByStages;
use crate::documents;

const SPECS: [&str; 10] = [
    r#"{"normalizers":[{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true}],"pre_tokenizers":[{"type":"BertPreTokenizer"}]}"#,
    r#"{"normalizers":[{"type":"BertNormalizer","clean_text":false,"handle_chinese_chars":false,"strip_accents":true,"lowercase":false}],"pre_tokenizers":[{"type":"BertPreTokenizer"}]}"#,
    r#"{"normalizers":[{"type":"NFC"},{"type":"Lowercase"}],"pre_tokenizers":[{"type":"Whitespace"}]}"#,
    r#"{"normalizers":[{"type":"NFKD"},{"type":"StripAccents"}],"pre_tokenizers":[{"type":"WhitespaceSplit"}]}"#,
    r#"{"normalizers":[{"type":"NFKC"}],"pre_tokenizers":[{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true}]}"#,
    r#"{"pre_tokenizers":[{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":true}]}"#,
    r#"{"normalizers":[{"type":"NFD"}],"pre_tokenizers":[{"type":"Metaspace","replacement":"a","prepend_scheme":"never","split":true}]}"#,
    r#"{"pre_tokenizers":[{"type":"WhitespaceSplit"}]}"#,
    r#"{"normalizers":[{"type":"NFC"}],"pre_tokenizers":[{"type":"FixedLength","length":1}]}"#,
    r#"{"pre_tokenizers":[{"type":"Metaspace","replacement":" ","prepend_scheme":"always","split":true}]}"#,
];

/// SentencePiece's stages, with its table and without one.
fn sentencepiece() -> [String; 2] {
    let table = crate::normalize::charsmap("nmt_nfkc").unwrap();
    let table = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, table);
    ["", &format!(r#"{{"type":"Charsmap","precompiled_charsmap":"{table}"}},"#)].map(|first| {
        format!(
            r#"{{"normalizers":[{first}
            {{"type":"SpaceMarks","add_dummy_prefix":true,"remove_extra_whitespaces":true,"escape_whitespaces":true,"treat_whitespace_as_suffix":false}},
            {{"type":"Replace","pattern":{{"Regex":"\\x{{3C}}s\\x{{3E}}|a\\x{{2E}}"}},"content":"\u001f"}}],
            "pre_tokenizers":[{{"type":"Split","pattern":{{"String":"▁"}},"behavior":"MergedWithNext","invert":false}}]}}"#
        )
    })
}

fn specs() -> Vec<String> {
    let others = SPECS.map(str::to_owned);
    others.into_iter().chain(sentencepiece()).collect()
}

/// Counts of documents, in order: with the stages run over all of the text.
fn plain(
    stages: &Stages,
    documents: &Documents<'_>,
    matcher: Option<&SpecialMatcher>,
) -> Vec<(Vec<u8>, u64)> {
    let mut counts = Counts::new(usize::MAX);
    let tasks = documents::tasks(documents, |text| stages.safe_cut(text), matcher);
    let cutter = ByStages {
        documents,
        stages,
        matcher,
    };
    counts.add_tasks(&tasks, &cutter, 1).unwrap();
    listed(&counts)
}

fn listed(counts: &Counts) -> Vec<(Vec<u8>, u64)> {
    counts
        .iter()
        .map(|(piece, count)| (piece.to_vec(), count))
        .collect()
}

fn check(stages: &Stages, texts: &[Vec<u8>], matcher: Option<&SpecialMatcher>) {
    let mut length = 0;
    let ends: Vec<u64> = texts
        .iter()
        .map(|text| {
            length += text.len() as u64;
            length
        })
        .collect();
    let text = texts.concat();
    for continued in [false, true] {
        let documents = Documents {
            text: &text,
            ends: &ends,
            continued,
        };
        let expected = plain(stages, &documents, matcher);
        for threads in [1, 3] {
            let mut counts = Counts::new(usize::MAX);
            counts
                .add_staged(stages, matcher, &documents, threads)
                .unwrap();
            assert!(listed(&counts) == expected, "{stages:?} {texts:.100?}");
        }
    }
}

#[test]
fn stretches_give_what_the_whole_text_gives() {
    let parts: [&[u8]; 13] = [
        b" ",
        b"\n",
        b"\t",
        b"a",
        "É".as_bytes(),
        "\u{301}".as_bytes(),
        "▁".as_bytes(),
        "中".as_bytes(),
        b".",
        b"\x80",
        b"\0",
        "\u{a0}".as_bytes(),
        "\u{a8}".as_bytes(),
    ];
    let count = parts.len();
    let texts: Vec<Vec<u8>> = (0..count.pow(4))
        .map(|number| {
            let at = |place: u32| parts[number / count.pow(place) % count];
            [at(0), at(1), at(2), at(3)].concat()
        })
        .collect();
    for spec in specs() {
        let stages = Stages::from_json(&spec).unwrap();
        assert!(stages.answers().blanks().is_some());
        // One by one, so that two wrongs make no right; and all as documents of a block.
        for text in texts.iter().step_by(7) {
            let one = Documents {
                text,
                ends: &[text.len() as u64],
                continued: false,
            };
            let mut counts = Counts::new(usize::MAX);
            counts.add_staged(&stages, None, &one, 1).unwrap();
            assert!(
                listed(&counts) == plain(&stages, &one, None),
                "{spec} {text:?}"
            );
        }
        check(&stages, &texts, None);
        // Without those that some stages allow no cut in.
        let mut unmarked = texts.clone();
        unmarked.retain(|text| {
            stages
                .answers()
                .blanks()
                .is_some_and(|blanks| blanks.allow(text))
        });
        check(&stages, &unmarked, None);
    }
}

#[test]
fn special_tokens_divide_stretches() {
    let matcher = SpecialMatcher::new(
        vec![b"<s>".to_vec(), b"a b".to_vec()],
        vec![0, 0],
        &[],
        None,
    )
    .unwrap();
    let texts = [
        "x<s> y<s>y a b a<s>",
        "<s>",
        "",
        " x y a  b\n<s>\nx ",
        "y",
        "x y",
    ]
    .map(|text| text.as_bytes().to_vec());
    for spec in specs() {
        check(&Stages::from_json(&spec).unwrap(), &texts, Some(&matcher));
    }
}

#[test]
fn long_texts_are_cut_in_tasks() {
    let mut text = Vec::new();
    for number in 0..60_000_u32 {
        text.extend_from_slice(
            format!("Wört{} ▁a\n  {},\u{301} ", number % 977, number % 31).as_bytes(),
        );
    }
    let unmarked = String::from_utf8(text.clone()).unwrap().replace('▁', "<s>");
    for spec in specs() {
        for text in [&text, unmarked.as_bytes()] {
            check(
                &Stages::from_json(&spec).unwrap(),
                &[text.to_vec(), b"end".to_vec()],
                None,
            );
        }
    }
}

#[test]
fn stages_that_look_at_blanks_are_not_cut_there() {
    for spec in [
        r#"{"pre_tokenizers":[]}"#,
        r#"{"pre_tokenizers":[{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":false}]}"#,
        r#"{"normalizers":[{"type":"Replace","pattern":{"String":"a b"},"content":"c"}],"pre_tokenizers":[{"type":"WhitespaceSplit"}]}"#,
        r#"{"normalizers":[{"type":"Strip","strip_left":true,"strip_right":true}],"pre_tokenizers":[{"type":"WhitespaceSplit"}]}"#,
        r#"{"pre_tokenizers":[{"type":"Punctuation","behavior":"Isolated"},{"type":"WhitespaceSplit"}]}"#,
    ] {
        assert_eq!(Stages::from_json(spec).unwrap().answers().blanks(), None);
    }
}
