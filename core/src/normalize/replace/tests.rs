//! What is found and what comes in its place, and where that leaves a text to be cut.

use super::*;

fn replace(pattern: Pattern, text: &[u8]) -> Vec<u8> {
    let mut text = Text::new(text, true);
    let replace = Replace::new(pattern, "-".to_owned()).unwrap();
    replace.rewrite(&mut text).unwrap();
    text.bytes().to_vec()
}

#[test]
fn passes_bytes_outside_utf8() {
    let expression = |expression: &str| Pattern::Regex(expression.to_owned());
    assert_eq!(replace(expression(" +"), b"\xFF  a\xE4 "), b"\xFF-a\xE4-");
    assert_eq!(replace(expression(r"\p{L}+"), b" \xFFa\xE4 b"), b" - -");
    assert_eq!(replace(expression(r"."), b"a\xFF\xFE"), b"---");
    assert_eq!(replace(Pattern::String("a".into()), b"\xFFa"), b"\xFF-");
    assert_eq!(replace(Pattern::String("".into()), b"\xFFa"), b"-\xFF-a-");
}

#[test]
fn places_stay_where_nothing_takes_a_space_or_a_letter_beside_it() {
    use AtSpace::{Changes, Stays, Unknown};
    let of = |pattern| Replace::new(pattern, "_".to_owned()).unwrap().at_space();
    for (literal, expected) in [
        ("``", Stays),
        (".", Stays),
        (". b.", Stays),
        (". ", Stays),
        (" ", Changes),
        ("ab", Changes),
        (" a", Changes),
        ("b.", Changes),
        (".b", Changes),
        ("", Unknown),
        ("a ", Unknown),
        ("a b", Unknown),
    ] {
        assert_eq!(
            of(Pattern::String(literal.to_owned())),
            expected,
            "{literal:?}"
        );
    }
    for (expression, expected) in [
        (" {2,}", Stays),
        (r"[ \t]{2,4}\n", Stays),
        (r"\s+", Changes),
        (" ", Changes),
        (r"\s*", Unknown),
        (r"\s+$", Unknown),
        ("a ", Unknown),
        (r"\S ", Unknown),
    ] {
        assert_eq!(
            of(Pattern::Regex(expression.to_owned())),
            expected,
            "{expression:?}"
        );
    }
    let to_space = Replace::new(Pattern::Regex(r"\s+".to_owned()), " ".to_owned());
    assert_eq!(to_space.unwrap().at_space(), Stays);
}

#[test]
fn a_long_text_in_which_nothing_is_found_is_no_reason_to_give_up() {
    let text = b"xy zb ".repeat(300_000);
    let found = replace(Pattern::Regex("(?<=a)b(?!c)".to_owned()), &text);
    assert_eq!(found, text);
}

#[test]
fn alternatives_are_found_as_the_expression_finds_them() {
    assert_eq!(alternatives(r"\x{3C}s\x{3E}|é1").unwrap(), ["<s>", "é1"]);
    for other in [
        "",
        "a|",
        "a.",
        "a b",
        r"\x3C",
        r"\x{110000}",
        r"\d",
        "(a)",
        "a{2}",
    ] {
        assert_eq!(alternatives(other), None, "{other:?}");
    }
    let texts: [&[u8]; 5] = [
        b"ab abc b",
        "éa\u{301}".as_bytes(),
        b"\xC3\xA9b\xC3\xFFab",
        b"",
        b"cab",
    ];
    for expression in ["ab|abc", "abc|ab|b", r"\x{E9}|b", "ca|ab|b"] {
        for text in texts {
            let mut plain = Text::new(text, true);
            let compiled = Expression::new(expression, Rules::NORMALIZE).unwrap();
            let by_expression = Replace {
                finder: Finder::Expression(Box::new(compiled)),
                content: "-".to_owned(),
                at_space: AtSpace::Unknown,
                stays_inside_words: false,
            };
            by_expression.rewrite(&mut plain).unwrap();
            let mut quick = Text::new(text, true);
            let by_texts = Replace::new(Pattern::Regex(expression.to_owned()), "-".to_owned());
            by_texts.unwrap().rewrite(&mut quick).unwrap();
            assert_eq!(quick, plain, "{expression} {text:?}");
        }
    }
}

#[test]
fn runs_of_white_space_are_those_of_the_expression() {
    let parts: [&[u8]; 9] = [
        b" ",
        b"\n",
        "\u{3000}".as_bytes(),
        b"\x1C",
        "\u{85}".as_bytes(),
        b"a",
        "\u{200B}".as_bytes(),
        b"\xE3\x80",
        b"\x85",
    ];
    let compiled = Expression::new(r"\s+", Rules::NORMALIZE).unwrap();
    let mut seed = 1_usize;
    for _ in 0..2000 {
        let mut text = Vec::new();
        for _ in 0..seed % 9 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.extend_from_slice(parts[(seed >> 33) % parts.len()]);
        }
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(3) >> 3;
        let whole = Subject::new(&text);
        let expected = compiled.matches(&whole, 0..text.len()).unwrap();
        assert_eq!(
            white_space(&text, 0).collect::<Vec<_>>(),
            expected,
            "{text:?}"
        );
    }
    let spaces = Replace::new(Pattern::Regex(r"\s+".to_owned()), " ".to_owned()).unwrap();
    let mut text = Text::new(b"a b\n\n c ", true);
    spaces.rewrite(&mut text).unwrap();
    assert_eq!(text.bytes(), b"a b c ");
    assert_eq!(text.origin(3..4).map(|origin| origin.end), Some(6));
}

#[test]
fn an_expression_that_would_go_backwards_is_refused() {
    let error = Replace::new(Pattern::Regex(r"a|(?<=\Ka)b".to_owned()), String::new());
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("inside a look-around")
    );
    assert_eq!(
        replace(Pattern::Regex(r"a\Kb".to_owned()), b"abab"),
        b"a-a-"
    );
}

#[test]
fn an_expression_that_gives_up_says_so() {
    let pattern = Pattern::Regex(r"(a|b|ab)*(?=c)d".to_owned());
    let replace = Replace::new(pattern, String::new()).unwrap();
    let error = replace.rewrite(&mut Text::new(&b"ab".repeat(100), false));
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("tries too many ways")
    );
    let broken = Replace::new(Pattern::Regex("(".to_owned()), String::new());
    assert!(broken.unwrap_err().to_string().contains("does not compile"));
}
