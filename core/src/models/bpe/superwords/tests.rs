//! Words and what is merged across them, held to the textbook procedure.

use std::collections::HashMap;

use super::super::super::merging::short::MAX_SYMBOLS;
use super::super::tests::{bytes_of, encode, table};
use super::*;
use crate::random::Draw;
use crate::random::tests::{begin, below};

/// A tab and a space are whitespace that is merged early; the last two are a character.
const BYTES: [u8; 8] = [b' ', b'a', b'b', b',', b'\n', b'\t', 0xC3, 0xA9];

fn some_bytes(draw: &mut Draw, length: usize) -> Vec<u8> {
    (0..length)
        .map(|_| BYTES[below(draw, BYTES.len())])
        .collect()
}

/// Ids of two neighbours -> rank of their merge, and what it makes.
type Book = HashMap<(u32, u32), (usize, u32)>;

/// Lowest rank first, leftmost of equals, one merge at a time.
fn by_the_book(book: &Book, mut ids: Vec<u32>) -> Vec<u32> {
    loop {
        let merge = |at: usize| {
            let &(rank, product) = book.get(&(ids[at - 1], ids[at]))?;
            Some((rank, at, product))
        };
        let Some((_, at, product)) = (1..ids.len()).filter_map(merge).min() else {
            return ids;
        };
        ids[at - 1] = product;
        ids.remove(at);
    }
}

fn book_of(merges: &[[u32; 3]]) -> Book {
    let ranks = merges.iter().enumerate();
    ranks
        .map(|(rank, &[left, right, product])| ((left, right), (rank, product)))
        .collect()
}

/// What pieces become in two stages; their words are found a few at a time.
fn by_words(superwords: &Superwords, pieces: &[&[u8]], joined: &mut Joined) -> Vec<u32> {
    let mut scratch = BpeScratch::default();
    let (mut words, mut closed) = ([0; 3], [0; 3]);
    let (mut ids, mut id_ends, mut out) = (Vec::new(), Vec::new(), vec![7]);
    let text = [b"a", &pieces.concat()[..], b" a"].concat();
    let mut from = 1;
    let ends = pieces.iter().scan(from, |end, piece| {
        *end += piece.len();
        Some(*end)
    });
    let ends: Vec<_> = ends.collect();
    while id_ends.len() < ends.len() {
        let rest = &ends[id_ends.len()..];
        let (found, ended) = superwords.find_words(&text, from, rest, &mut words, &mut closed);
        let reached = words[..found].iter().map(|&end| {
            assert!(end > from);
            let word = &text[std::mem::replace(&mut from, end)..end];
            let done = superwords.encode_word(word, &mut scratch, &mut ids);
            done.unwrap();
            ids.len()
        });
        let reached: Vec<_> = reached.collect();
        for (&words_of, &end) in closed[..ended].iter().zip(rest) {
            assert_eq!(words[words_of - 1], end);
            id_ends.push(reached[words_of - 1]);
        }
    }
    assert_eq!(from, text.len() - 2);
    superwords
        .join(&ids, &id_ends, joined, &mut scratch, &mut out)
        .unwrap();
    out.split_off(1)
}

/// Where the words of a text that is one piece end, as many as there is room for.
fn word_ends(superwords: &Superwords, text: &[u8], from: usize, room: usize) -> Vec<usize> {
    let (mut words, mut closed) = (vec![0; room], vec![0; room]);
    let pieces = [text.len()];
    let (found, ended) = superwords.find_words(text, from, &pieces, &mut words, &mut closed);
    assert_eq!(ended == 1, words[found - 1] == text.len());
    words[..found].to_vec()
}

/// Tokens, and merges of which the first ones seldom cross from another byte to a space. Several may make the same token, and
/// some lists are out of order.
fn drawn(draw: &mut Draw) -> (Vec<Vec<u8>>, Vec<[u32; 3]>) {
    let mut tokens = BYTES.map(|byte| vec![byte]).to_vec();
    let mut merges: Vec<[u32; 3]> = Vec::new();
    let inside = below(draw, 60);
    for number in 0..inside + below(draw, 60) {
        let (left, right) = (below(draw, tokens.len()), below(draw, tokens.len()));
        let both = [&tokens[left][..], &tokens[right]].concat();
        let crosses = tokens[left].last() != Some(&b' ') && tokens[right][0] == b' ';
        let stray = below(draw, 30) == 0;
        let pair = [left as u32, right as u32];
        let is_known = merges.iter().any(|merge| merge[..2] == pair);
        if both.len() > 9 || is_known || number < inside && crosses && !stray {
            continue;
        }
        let made = tokens.iter().position(|token| *token == both);
        merges.push([pair[0], pair[1], made.unwrap_or(tokens.len()) as u32]);
        if made.is_none() {
            tokens.push(both);
        }
    }
    if merges.len() > 1 && below(draw, 4) == 0 {
        let (one, other) = (below(draw, merges.len()), below(draw, merges.len()));
        merges.swap(one, other);
    }
    (tokens, merges)
}

#[test]
fn at_any_rank_two_stages_are_what_the_book_says() {
    let draw = &mut begin(1);
    let (mut several, mut divided, mut refused) = (0, 0, 0);
    for _ in 0..600 {
        let (tokens, merges) = drawn(draw);
        let model = Bpe::from_merges(table(&tokens), &merges, false).unwrap();
        let limit = below(draw, merges.len() + 1) as u32;
        let Some(superwords) = Superwords::at(&model, &entries_of(&model), limit) else {
            refused += 1;
            continue;
        };
        divided += 1;
        let book = book_of(&merges);
        let byte = |byte: &u8| BYTES.iter().position(|one| one == byte).unwrap() as u32;
        let unit = 1 + below(draw, 12);
        // One that repeats itself, and is longer than what is merged on the stack.
        let long = some_bytes(draw, unit).repeat(3 * MAX_SYMBOLS / unit);
        let short = [1, 2, 9, 25, 40].map(|length| some_bytes(draw, length));
        let random = some_bytes(draw, 3 * MAX_SYMBOLS);
        // What is remembered of a piece is met again in the next ones, and in the same once more.
        let joined = &mut Joined::default();
        let pieces = short.iter().chain([&long, &random, &random, &long]);
        let pieces: Vec<_> = pieces.map(|piece| &piece[..]).collect();
        let mut all = Vec::new();
        for &piece in &pieces {
            let expected = by_the_book(&book, piece.iter().map(byte).collect());
            let found = by_words(&superwords, &[piece], joined);
            assert_eq!(found, expected, "{limit} {merges:?}");
            all.extend(expected);
            several += usize::from(word_ends(&superwords, piece, 0, 256).len() > 1);
        }
        let found = by_words(&superwords, &pieces, joined);
        assert_eq!(found, all, "side by side: {limit} {merges:?}");
    }
    let enough = divided > 250 && refused > 10 && several > 1000;
    assert!(enough, "{divided} {refused} {several}");
}

/// Windows on the stack are too short for them, and some of those over a queue are.
#[test]
fn a_token_may_have_more_words_than_a_window() {
    let mut tokens = vec![b" ".to_vec(), b"a".to_vec(), b" a".to_vec()];
    let mut merges = vec![[0, 1, 2]];
    for product in 3..11 {
        let half = tokens[product as usize - 1].clone();
        tokens.push(half.repeat(2));
        merges.push([product - 1, product - 1, product]);
    }
    let model = Bpe::from_merges(table(&tokens), &merges, false).unwrap();
    let superwords = Superwords::at(&model, &entries_of(&model), 1).unwrap();
    for words in [1, 63, 64, 65, 127, 128, 129, 300, 600] {
        let piece = b" a".repeat(words);
        let bytes = piece.iter().map(|&byte| u32::from(byte == b'a')).collect();
        let expected = by_the_book(&book_of(&merges), bytes);
        assert_eq!(
            by_words(&superwords, &[&piece], &mut Joined::default()),
            expected,
            "{words}"
        );
    }
}

/// Merges of "\t ", " the" and " of", and then " of the".
fn of_the() -> (Vec<Vec<u8>>, Vec<[u32; 3]>) {
    let words = [
        " ", "t", "h", "e", "o", "f", ",", "\t", "\t ", "th", "the", " the", "of", " of", " of the",
    ];
    let tokens = words.map(|word| word.as_bytes().to_vec()).to_vec();
    let merges = [
        [7, 0, 8],
        [1, 2, 9],
        [9, 3, 10],
        [0, 10, 11],
        [4, 5, 12],
        [0, 12, 13],
        [13, 11, 14],
    ];
    (tokens, merges.to_vec())
}

fn divided(tokens: &[Vec<u8>], merges: &[[u32; 3]]) -> (Bpe, Option<Superwords>) {
    let model = Bpe::from_merges(table(tokens), merges, false).unwrap();
    let superwords = Superwords::of(&model);
    (model, superwords)
}

#[test]
fn words_end_where_only_superwords_cross() {
    let (tokens, merges) = of_the();
    let (model, superwords) = divided(&tokens, &merges);
    // "\t " is made first, but few tokens end with a tab.
    assert_eq!(limit_of(&model, &entries_of(&model)), Some(6));
    let superwords = superwords.unwrap();
    let ends = |text, from, room| word_ends(&superwords, text, from, room);
    assert_eq!(ends(b" of the, of the", 0, 9), [3, 7, 8, 11, 15]);
    assert_eq!(ends(b" of the, of the", 3, 2), [7, 8]);
    let inside = ends(b"e\t the", 0, 9);
    assert_eq!(inside, [1, 6], "a tab and a space are merged inside words");
    let ids = by_words(&superwords, &[b" of the, of the"], &mut Joined::default());
    assert_eq!(bytes_of(&model, &ids), [&b" of the"[..], b",", b" of the"]);
}

/// What merges inside a piece does not merge across the place where one ends, whatever comes before and behind it.
#[test]
fn nothing_is_joined_across_pieces() {
    let (tokens, merges) = of_the();
    let (model, superwords) = divided(&tokens, &merges);
    let superwords = superwords.unwrap();
    let pieces: [&[u8]; 6] = [b" of", b" the", b" of the", b",", b" of", b" the the"];
    for times in [1, 4, 40] {
        let pieces = pieces.repeat(times);
        let expected: Vec<_> = pieces
            .iter()
            .flat_map(|piece| encode(&model, piece))
            .collect();
        let ids = by_words(&superwords, &pieces, &mut Joined::default());
        assert_eq!(bytes_of(&model, &ids), expected, "{times}");
    }
}

#[test]
fn a_model_of_words_stays_whole() {
    let (tokens, merges) = of_the();
    let (_, superwords) = divided(&tokens, &merges[..6]);
    assert!(superwords.is_none());
    let (_, superwords) = divided(&tokens, &[]);
    assert!(superwords.is_none());
}

#[test]
fn a_model_whose_words_are_made_of_superwords_stays_whole() {
    let (mut tokens, mut merges) = of_the();
    tokens.push(b" of the,".to_vec());
    // " of the" and "," come first, if there is " of the".
    merges.insert(0, [14, 6, 15]);
    let (model, superwords) = divided(&tokens, &merges);
    assert_eq!(limit_of(&model, &entries_of(&model)), Some(7));
    assert!(superwords.is_none());
    let expected = [&b" of the,"[..], b" of the"];
    assert_eq!(encode(&model, b" of the, of the"), expected);
}

#[test]
fn a_model_is_divided_once_it_is_worth_it() {
    let (tokens, merges) = of_the();
    let model = Bpe::from_merges(table(&tokens), &merges, false).unwrap();
    let scratch = &mut BpeScratch::default();
    let enough = FIND_AFTER * tokens.len();
    model.ask_for_superwords(enough, scratch);
    assert!(model.superwords().is_none());
    model.ask_for_superwords(1, scratch);
    assert!(model.superwords().is_some());
}

#[test]
fn ranks_have_superwords_too() {
    let tokens = of_the().0;
    let model = Bpe::from_ranks(table(&tokens)).unwrap();
    let superwords = Superwords::of(&model).unwrap();
    let ids = by_words(&superwords, &[b"e of the,e of the"], &mut Joined::default());
    assert_eq!(bytes_of(&model, &ids), encode(&model, b"e of the,e of the"));
}

#[test]
fn a_missing_byte_is_named_in_its_word() {
    let (tokens, merges) = of_the();
    let superwords = divided(&tokens, &merges).1.unwrap();
    let missing = superwords.encode_word(b" ofx", &mut BpeScratch::default(), &mut Vec::new());
    let expected = crate::error::Error::MissingByte {
        byte: b'x',
        offset: 3,
    };
    assert_eq!(missing, Err(expected));
}
