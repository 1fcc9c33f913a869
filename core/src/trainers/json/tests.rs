use proptest::prelude::*;

use crate::trainers::bpe::{Decoration, Options, Tie, Vetoes};
use crate::trainers::unigram::Textbook;

fn read(json: &str) -> Result<Options, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

#[test]
fn bytes_are_in_base64() {
    let options = read(
        r#"{"initial": ["YQ==", "/w==", ""], "vocab_size": 18446744073709551615, "min_frequency": 2,
            "tie": "largest-text", "boundary_mark": "AAE=", "decoration": {"prefix": "IyM="},
            "vetoes": {"max_digits": 3, "reserved": ["eA==", "eA=="]}}"#,
    )
    .unwrap();
    assert_eq!(options.initial, [b"a".to_vec(), vec![0xff], vec![]]);
    assert_eq!(options.vocab_size, usize::MAX);
    assert_eq!((options.tie, options.max_merges), (Tie::LargestText, None));
    assert_eq!(options.boundary_mark, [0, 1]);
    assert_eq!(options.decoration.prefix, b"##");
    let decoration = Decoration {
        prefix: b"##".to_vec(),
        ..Decoration::default()
    };
    assert_eq!(options.decoration, decoration);
    let vetoes = Vetoes {
        max_digits: Some(3),
        reserved: [b"x".to_vec()].into(),
        ..Vetoes::default()
    };
    assert_eq!(options.vetoes, vetoes);
}

#[test]
fn what_is_unknown_or_missing_is_refused() {
    let required = r#""initial": [], "vocab_size": 3, "min_frequency": 1, "tie": "first-seen""#;
    let refused = |more: &str| read(&format!("{{{required}, {more}}}")).unwrap_err();
    assert!(read(&format!("{{{required}}}")).is_ok());
    assert!(refused(r#""vocabsize": 3"#).contains("unknown field `vocabsize`"));
    assert!(refused(r#""vetoes": {"digits": 3}"#).contains("unknown field `digits`"));
    assert!(refused(r#""boundary_mark": "a""#).contains("\"a\" is not base64"));
    assert!(refused(r#""max_merges": -1"#).contains("invalid value"));
    assert!(refused(r#""max_merges": 18446744073709551616"#).contains("invalid type"));
    let missing = read(r#"{"initial": [], "vocab_size": 3, "tie": "first-seen"}"#);
    assert!(
        missing
            .unwrap_err()
            .contains("missing field `min_frequency`")
    );
}

proptest! {
    #[test]
    fn floats_are_exact(dropped in any::<f64>().prop_filter("JSON has none", |number| number.is_finite())) {
        let json = format!(r#"{{"vocab_size": 1, "initial_size": 2, "dropped": {dropped:?}}}"#);
        let read: Textbook = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(read.dropped.to_bits(), dropped.to_bits());
    }
}
