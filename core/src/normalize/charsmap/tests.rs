use super::*;
use crate::text::Origin;
use crate::text::Text;

fn table(rules: &[(&str, &str)]) -> Charsmap {
    let bytes = Charsmap::compile(rules).unwrap();
    Charsmap::read(&bytes).unwrap().unwrap()
}

#[test]
fn takes_the_longest_rule() {
    let table = table(&[("a", "1"), ("ab", ""), ("abc", "xyz"), ("é", "e")]);
    let mut text = Text::new("ababcaé\u{FF}d".as_bytes(), true);
    text.rewrite(|old, new| table.write(old, new));
    assert_eq!(text.bytes(), "xyz1e\u{FF}d".as_bytes());
    assert_eq!(text.origin(0..1), Some(Origin { start: 2, end: 5 }));
}

#[test]
fn blanks_that_belong_to_a_rule_or_a_kept_text_are_not_extra() {
    let mut table = table(&[("x", "  "), ("y", " b  "), ("z", "")]);
    assert!(table.has_runs());
    table.keep(&["  ".to_owned()]);
    table.leave_extra_out();
    for (old, new) in [
        ("a  b", "a  b"),
        ("a   b", "a  b"),
        ("a b", "a b"),
        ("axb", "a  b"),
        ("a x  b", "a b"),
        ("ayxc", "a b  c"),
        ("a yc", "a b  c"),
        ("a z b", "a b"),
        ("  xa", "  a"),
    ] {
        let mut text = Text::new(old.as_bytes(), true);
        text.rewrite(|old, new| table.write(old, new));
        assert_eq!(text.bytes(), new.as_bytes(), "{old:?}");
    }
    let mut none = Charsmap::empty().unwrap().unwrap();
    assert!(!none.has_runs());
    none.keep(&["a ".to_owned(), " b".to_owned()]);
    assert!(!none.has_runs());
    none.keep(&["a  b".to_owned()]);
    assert!(none.has_runs());
}

#[test]
fn a_grapheme_is_replaced_as_a_whole() {
    let table = table(&[("\u{1}", ""), ("\n", " "), ("\r", " "), ("™", "TM")]);
    let mut text = Text::new("\u{1}a\r\nb\u{1}™\n\u{301}".as_bytes(), true);
    text.rewrite(|old, new| table.write_graphemes(old, new));
    assert_eq!(text.bytes(), "a bTM \u{301}".as_bytes());
    let starts: Vec<u32> = (0..6)
        .map(|at| text.origin(at..at + 1).unwrap().start)
        .collect();
    assert_eq!(starts, [1, 2, 4, 6, 6, 9]);
}

#[test]
fn runs_of_plain_characters_are_no_exception() {
    // Rules for single characters, for beginnings of clusters, and for parts of what is plain.
    let table = table(&[
        ("B", "b"),
        ("e\u{301}", "E"),
        ("好", "h"),
        ("\u{301}", ""),
        ("🙂", " "),
    ]);
    let parts = [
        "a", "e", "B", " ", "\u{301}", "好", "中", "䷀", "🙂", "\u{200D}", "\r\n", "\u{600}",
    ];
    for number in 0..parts.len().pow(4) {
        let digit = |place: u32| parts[number / parts.len().pow(place) % parts.len()];
        let text: String = (0..4).map(digit).collect();
        let mut own = Text::new(text.as_bytes(), true);
        own.rewrite(|old, new| table.write_graphemes(old, new));
        let mut other = Text::new(text.as_bytes(), true);
        other.rewrite(|old, new| {
            let mut writer = GraphemeWriter {
                changes: Changes::new(old, new),
                last: None,
            };
            table.rewrite_clusters(&text, &mut writer);
            writer.flush();
        });
        assert_eq!(own, other, "{text:?}");
    }
}

#[test]
fn broken_tables_are_refused_or_match_nothing() {
    assert!(Charsmap::read(&[]).unwrap().is_none());
    assert!(Charsmap::read(&[1, 0]).is_err());
    assert!(Charsmap::read(&[255, 255, 255, 255, 0]).is_err());
    assert!(Charsmap::read(&[0, 0, 0, 0, 255]).is_err());
    let mut bytes = Charsmap::compile(&[("a", "b")]).unwrap();
    bytes.truncate(bytes.len() - 2);
    let table = Charsmap::read(&bytes).unwrap().unwrap();
    let mut text = Text::new(b"a", false);
    text.rewrite(|old, new| table.write(old, new));
    assert_eq!(text.bytes(), b""); // the replacement ends where the table does
}
