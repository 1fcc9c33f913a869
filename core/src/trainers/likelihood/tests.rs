//! Worked examples; Python's textbook is the oracle for random corpora.

use super::*;

/// Learns from words spelt with `##`; gives the merges' pairs and all tokens.
fn train(words: &[(&str, u64)], settings: Options) -> (Vec<(String, String)>, Vec<String>, bool) {
    let pieces = words.iter().map(|(word, count)| (word.as_bytes(), *count));
    let trainer = Trainer::new(pieces, &settings).unwrap();
    let training = trainer.run(&mut |_| Ok(())).unwrap();
    let text = |id: u32| String::from_utf8(training.tokens[id as usize].clone()).unwrap();
    let merges = training.merges.iter();
    (
        merges
            .map(|merge| (text(merge[0]), text(merge[1])))
            .collect(),
        (0..training.tokens.len() as u32).map(text).collect(),
        training.exhausted,
    )
}

fn options(symbols: &[&str], vocab_size: usize, tie: Tie) -> Options {
    Options {
        initial: symbols
            .iter()
            .map(|symbol| symbol.as_bytes().to_vec())
            .collect(),
        symbols: (0..symbols.len() as u32).collect(),
        continuing_subword_prefix: b"##".to_vec(),
        vocab_size,
        min_frequency: 1,
        tie,
    }
}

const HUGS: [(&str, u64); 5] = [
    ("hug", 10),
    ("pug", 5),
    ("pun", 12),
    ("bun", 4),
    ("hugs", 5),
];
const ALPHABET: [&str; 7] = ["b", "h", "p", "##g", "##n", "##s", "##u"];

#[test]
fn merges_what_is_most_frequent_for_its_parts() {
    let (merges, tokens, exhausted) = train(&HUGS, options(&ALPHABET, 10, Tie::FirstSeen));
    let pair = |left: &str, right: &str| (left.to_owned(), right.to_owned());
    assert_eq!(
        merges,
        [pair("##g", "##s"), pair("h", "##u"), pair("hu", "##gs")] // 1/20, 1/36, 1/15
    );
    assert_eq!(tokens[7..], ["##gs", "hu", "hugs"]);
    assert!(!exhausted);
}

#[test]
fn ties_go_to_the_most_frequent_pair() {
    let (merges, ..) = train(&HUGS, options(&ALPHABET, 9, Tie::MostFrequent));
    // All pairs but one score 1/36 at first; of the rest, p with u and u with n occur 17 and 16 times.
    assert_eq!(merges[0], ("##g".to_owned(), "##s".to_owned()));
    assert_eq!(merges[1], ("p".to_owned(), "##u".to_owned()));
}

#[test]
fn leaves_out_what_is_outside_the_alphabet_and_too_rare() {
    let settings = options(&["a", "##b", "##c"], 9, Tie::FirstSeen);
    let (_, tokens, exhausted) = train(&[("axbc", 1)], settings.clone());
    assert_eq!(tokens[3..], ["ab", "abc"]);
    assert!(exhausted);
    let rare = Options {
        min_frequency: 2,
        ..settings
    };
    assert_eq!(train(&[("ab", 1), ("ac", 2)], rare).1[3..], ["ac"]);
}

#[test]
fn a_text_made_twice_is_one_token() {
    // As a word of its own, and inside one: only what looks like the prefix can be both.
    let settings = options(&["#", "###", "##a", "##b"], 99, Tie::FirstSeen);
    let (merges, tokens, _) = train(&[("##ba", 2), ("##", 1)], settings);
    assert_eq!(merges.len(), 3);
    assert_eq!(tokens[4..], ["##ba", "##"]);
}

#[test]
fn refuses_what_contradicts_itself() {
    let sentence = |words: &[(&[u8], u64)], settings: &Options| {
        let trainer = Trainer::new(words.iter().copied(), settings);
        trainer.err().unwrap().to_string()
    };
    let twice = options(&["a", "a"], 9, Tie::FirstSeen);
    assert!(sentence(&[], &twice).contains("twice"));
    let missing = Options {
        symbols: vec![7],
        ..options(&["a"], 9, Tie::FirstSeen)
    };
    assert!(sentence(&[], &missing).contains("no symbol"));
    let many = options(&["a", "##a"], 9, Tie::FirstSeen);
    assert!(sentence(&[(b"aaa", u64::MAX / 2)], &many).contains("2^64"));
}
