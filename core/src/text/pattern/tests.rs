use super::*;

fn find(pattern: &str, text: &[u8]) -> Result<Vec<Range<usize>>> {
    Expression::new(pattern, Rules::SPLIT)?.matches(&Subject::new(text), 0..text.len())
}

/// The matches and what lies between them.
fn cut<'t>(pattern: &str, text: &'t [u8]) -> Result<Vec<&'t [u8]>> {
    let mut edges = vec![0];
    edges.extend(
        find(pattern, text)?
            .iter()
            .flat_map(|each| [each.start, each.end]),
    );
    edges.push(text.len());
    let pieces = edges.windows(2).map(|edges| &text[edges[0]..edges[1]]);
    Ok(pieces.filter(|piece| !piece.is_empty()).collect())
}

#[test]
fn stray_bytes_are_letters() {
    let text = b"a\xFF\xE4\xB8 \xC3\xA9\x80,\xF0";
    let expected: [&[u8]; 5] = [b"a\xFF\xE4\xB8", b" ", b"\xC3\xA9\x80", b",", b"\xF0"];
    assert_eq!(cut(r"\p{Lo}*\p{L}+", text).unwrap(), expected);
}

#[test]
fn looks_around_and_matches_nothing() {
    let pieces = cut(r"(?=b)|\s+(?!\S)", b"abb  c").unwrap();
    assert_eq!(pieces, [&b"a"[..], b"b", b"b", b" ", b" c"]);
    assert_eq!(cut("", b"ab").unwrap(), [b"a", b"b"]);
}

#[test]
fn where_a_match_begins_is_not_set_from_around_it() {
    for pattern in [
        r"a|(?<=\Ka)b",
        r"(?=a\K)",
        r"(?<=(\Ka))b",
        r"x(?!(?:\K|y))",
        r"(a\K)?(?=\g<1>)b",
        r"(?((?=\Ka))b|c)",
    ] {
        for rules in [Rules::SPLIT, Rules::NORMALIZE, Rules::DECODE] {
            let error = Expression::new(pattern, rules).unwrap_err().to_string();
            assert!(
                error.contains(r"\K inside a look-around"),
                "{pattern}: {error}"
            );
        }
    }
    assert_eq!(find(r"a\Kb|\\K", b"abab").unwrap(), [1..2, 3..4]);
    assert_eq!(find(r"(?<=a)b\K", b"abab").unwrap(), [2..2, 4..4]);
    let in_class = find(r"[\K](?=b)", b"Kb").unwrap_or_default();
    assert_eq!((in_class.len(), in_class.first()), (1, Some(&(0..1))));
}

#[test]
fn look_behinds_are_tried_at_every_length_or_refused() {
    for pattern in [
        r"x(?<=\b-?x)",
        r"\p{L}(?<!\b(?:[\r\n]?)[-a]|\f)",
        r"(?<=a|\B(?:b|cc))d",
        r"(?<=-?(?>a)[ax]*)x",
        r"(a|x)(?<=\1x{1,2})",
        r"x(?<=(?<=x|-)x?)",
        r"a(?:b|(?<=\b-?)c)",
    ] {
        for rules in [Rules::SPLIT, Rules::NORMALIZE, Rules::DECODE] {
            let error = Expression::new(pattern, rules).unwrap_err().to_string();
            assert!(
                error.contains("is not tried at every length"),
                "{pattern}: {error}"
            );
        }
    }
    for (pattern, expected) in [
        (r"x(?<=\b-x|\bx)", &[1, 3, 7][..]),
        (r"x(?<=^-?x)", &[1]),
        (r"x(?<=-?x)\b", &[1, 3, 7]),
        (r"(?<=a\s*)x", &[7]),
        (r"(?<!\B-)x", &[3, 7]),
    ] {
        let starts: Vec<_> = find(pattern, b"-x x a x").unwrap();
        let starts: Vec<_> = starts.iter().map(|each| each.start).collect();
        assert_eq!(starts, expected, "{pattern}");
    }
}

#[test]
fn matches_that_go_backwards_are_an_error_and_no_endless_list() {
    // Some of them this engine sets right itself.
    for (pattern, goes_back) in [
        (r"a|(?<=\Ka)b", true),
        (r"(?=a\K)", false),
        (r"(?=ab\K)a", false),
    ] {
        let expression = Expression {
            regex: Regex::new(pattern).unwrap(),
            pattern: pattern.to_owned(),
            rules: Rules::SPLIT,
        };
        match expression.matches(&Subject::new(b"abab"), 0..4) {
            Ok(found) => assert!(!goes_back && found.is_sorted_by(|a, b| a.end <= b.start)),
            Err(error) => {
                assert!(
                    error.to_string().ends_with("goes backwards in this text"),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn the_dot_option_is_renamed_and_nothing_else() {
    for (theirs, ours) in [
        ("(?m)a.", "(?s)a."),
        ("(?im-x:.)(?i)", "(?is-x:.)(?i)"),
        (r"\(?m\)[(?m)]", r"\(?m\)[(?m)]"),
        (
            r"(?<m>m)(?=m)(m)[[:alpha:](?m)\]]m",
            r"(?<m>m)(?=m)(m)[[:alpha:](?m)\]]m",
        ),
        ("(?m", "(?m"),
        ("é\\é[é", "é\\é[é"),
    ] {
        assert_eq!(with_dot_option_renamed(theirs), ours);
    }
}

#[test]
fn hostile_patterns_are_refused() {
    let deep = "(".repeat(100_000) + &")".repeat(100_000);
    let long = format!("(?=a){}", "a?".repeat(100_000));
    for pattern in [
        "(",
        "[",
        r"\p{Nope}",
        "*",
        &deep,
        "(?:(?:a{1000}){1000}){1000}",
        "(?:(?:(?:(?=a)a{1000}){1000}){1000}){1000}",
        r"\1",
        r"(?<=a+b*c)",
        "a{99999999999}",
    ] {
        // What compiles must also run to an end.
        let _ = find(pattern, b"aaaaaaaaaaaaaaaaaaaaaaaaab");
    }
    assert!(cut(&long, b"aaaa").is_ok());
    let error = cut(r"(a*)*\1c", "a".repeat(40).as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"the pattern "(a*)*\\1c" tries too many ways to match this text"#
    );
    let error = cut(&format!("({}", "é".repeat(80)), b"")
        .unwrap_err()
        .to_string();
    assert!(error.contains("ééé...\" does not compile"), "{error}");
}
