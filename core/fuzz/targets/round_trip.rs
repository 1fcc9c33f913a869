//! What is encoded is decoded to the same bytes, by ranks and by merges in any order, one by one or in a batch.
//!
//! The first byte says how many merges are learnt, the second how they are ordered; they are learnt from the rest.
#![no_main]

use bpe_core::{Contractions, Scanner, ScannerSpec, Tail, Tokenizer, WordRule};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let [merges, order, text @ ..] = data else {
        return;
    };
    let spec = ScannerSpec {
        words: WordRule::Spaced,
        contractions: Contractions::Exact,
        digits: 0,
        tail: Tail::Nothing,
        newlines: false,
        final_space: false,
    };
    let scanner = Scanner::new((order & 1 == 0).then_some(&spec)).expect("it is one");
    let size = 256 + usize::from(*merges);
    let learnt = Tokenizer::train([text], size, scanner.clone()).expect("there is room");
    let tokens: Vec<&[u8]> = learnt.tokens().iter().map(|(_, token)| token).collect();
    let mut merges = learnt.merges().expect("they were learnt").to_vec();
    if order & 2 != 0 {
        merges.reverse();
    }
    if !merges.is_empty() {
        let by = usize::from(order >> 2) % merges.len();
        merges.rotate_left(by);
    }
    let by_merges = Tokenizer::from_merges(&tokens, &merges, scanner.clone());
    let by_ranks = Tokenizer::from_ranks(&tokens, scanner);
    for tokenizer in [learnt, by_merges.expect("merges"), by_ranks.expect("ranks")] {
        let ids = tokenizer.encode(text).expect("every byte has a token");
        assert_eq!(tokenizer.decode(&ids).expect("every id has a token"), text);
        assert_eq!(tokenizer.count(text), Ok(ids.len() as u64));
        let (left, right) = text.split_at(text.len() / 3);
        let batch = tokenizer.encode_batch([left, b"", text, right], 2);
        let each = [left, b"", text, right].map(|text| tokenizer.encode(text).expect("as above"));
        assert_eq!(batch.expect("as above"), each);
    }
});
