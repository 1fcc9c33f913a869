//! Learns word pieces by likelihood: merges the pair that is most frequent for what its parts are,
//! count(pair) / (count(left) * count(right)), until the vocabulary is full.
//!
//! Schuster and Nakajima 2012 ("Japanese and Korean Voice Search") choose what raises the likelihood of
//! the corpus most; this ratio is the form in which courses teach it. Symbols are characters, those
//! inside a word with a prefix, which a merge takes out again.
//!
//! Scores are never numbers with a point: two are compared by their cross products, exactly. A merge
//! changes the counts of three tokens, and with them the scores of all their pairs; these are set anew
//! in a heap that knows where each pair stands.
//!
//! Complexity: a merge costs the places of its pair, and the pairs of its three tokens times the
//! logarithm of all pairs.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use serde::Deserialize;

use super::bpe::Training;
use super::json;
use super::ranking::Ranking;
use super::score::Score;
pub use super::score::Tie;
use crate::error::{Error, Result};
use crate::text;

/// No token: the cell belongs to one that began before it.
const GONE: u32 = u32::MAX;
/// No cell: the word begins or ends.
const END: u32 = u32::MAX;

/// What and how much to learn.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Tokens that exist before the first merge, by id, written with prefix; empty: a text that no
    /// merge makes.
    #[serde(deserialize_with = "json::all_bytes")]
    pub initial: Vec<Vec<u8>>,
    /// Which of them are symbols; text outside this alphabet is left out.
    pub symbols: Vec<u32>,
    /// Written before symbols inside a word.
    #[serde(deserialize_with = "json::bytes")]
    pub continuing_subword_prefix: Vec<u8>,
    /// Stop when there are so many tokens.
    pub vocab_size: usize,
    /// Pairs that are rarer are not merged.
    pub min_frequency: u64,
    /// How ties are decided.
    pub tie: Tie,
}

/// A pair of neighbouring tokens.
#[derive(Debug)]
struct Pair {
    left: u32,
    right: u32,
    count: u64,
    /// The cells where its left token began when it was found.
    places: Vec<u32>,
    /// Whether these are not ascending: a token that can be made in two ways is found in two passes.
    unsorted: bool,
    /// Places before this one in the list are known to be gone.
    gone: usize,
    /// Whether it stands among the pairs of its tokens.
    listed: bool,
}

/// Learns merges: [`Trainer::new`] lays the words out, [`Trainer::run`] merges pairs.
pub struct Trainer {
    tie: Tie,
    vocab_size: usize,
    minimum: u64,
    prefix: Vec<u8>,
    /// The token that begins at each symbol of each word.
    cells: Vec<u32>,
    /// The cell where the next token of the word begins.
    next: Vec<u32>,
    /// The cell where the one before begins.
    previous: Vec<u32>,
    /// The word that each cell belongs to.
    word_of: Vec<u32>,
    word_counts: Vec<u64>,
    tokens: Vec<Vec<u8>>,
    ids: HashMap<Vec<u8>, u32, RandomState>,
    /// How often each token occurs.
    token_counts: Vec<u64>,
    pairs: Vec<Pair>,
    numbers: HashMap<(u32, u32), u32, RandomState>,
    /// The pairs that each token stands in.
    pairs_of: Vec<Vec<u32>>,
    ranking: Ranking<Score>,
}

impl Trainer {
    /// Lays (word, count) out and finds the pairs.
    ///
    /// # Errors
    /// Settings that contradict themselves, or a corpus beyond 2^32 symbols or 2^64 of their
    /// occurrences.
    pub fn new<'a>(
        words: impl Iterator<Item = (&'a [u8], u64)>,
        options: &Options,
    ) -> Result<Self> {
        let mut trainer = Self {
            tie: options.tie,
            vocab_size: options.vocab_size,
            minimum: options.min_frequency.max(1),
            prefix: options.continuing_subword_prefix.clone(),
            cells: Vec::new(),
            next: Vec::new(),
            previous: Vec::new(),
            word_of: Vec::new(),
            word_counts: Vec::new(),
            tokens: options.initial.clone(),
            ids: HashMap::default(),
            token_counts: vec![0; options.initial.len()],
            pairs: Vec::new(),
            numbers: HashMap::default(),
            pairs_of: vec![Vec::new(); options.initial.len()],
            ranking: Ranking::default(),
        };
        for (id, token) in options.initial.iter().enumerate() {
            if !token.is_empty() && trainer.ids.insert(token.clone(), id as u32).is_some() {
                return Err(Error::Invalid(format!(
                    "the initial token {id} stands there twice"
                )));
            }
        }
        let mut symbols = HashMap::<&[u8], u32, RandomState>::default();
        for &id in &options.symbols {
            match options.initial.get(id as usize) {
                Some(token) if !token.is_empty() => symbols.insert(token, id),
                _ => {
                    return Err(Error::Invalid(format!(
                        "the initial token {id} is no symbol"
                    )));
                }
            };
        }
        let mut occurrences = 0_u64;
        for (word, count) in words {
            let length = trainer.lay_out(word, count, &symbols)?;
            occurrences = count
                .checked_mul(length)
                .and_then(|number| number.checked_add(occurrences))
                .ok_or_else(|| {
                    Error::Invalid("the corpus has more than 2^64 symbols".to_owned())
                })?;
        }
        trainer.find_pairs();
        Ok(trainer)
    }

    /// Merges until the vocabulary is full; `progress` is called now and then with its size.
    ///
    /// # Errors
    /// What `progress` gives, or more than 2^32 tokens.
    pub fn run(mut self, progress: &mut dyn FnMut(usize) -> Result<()>) -> Result<Training> {
        progress(self.tokens.len())?;
        let mut training = Training::default();
        while self.tokens.len() < self.vocab_size {
            let Some((best, _)) = self.ranking.first() else {
                training.exhausted = true;
                break;
            };
            let Pair {
                left, right, count, ..
            } = self.pairs[best as usize];
            let product = self.product(left, right)?;
            self.merge(best, product);
            for token in [left, right, product] {
                self.rank_pairs_of(token);
            }
            training.merges.push([left, right, product]);
            training.counts.push(count);
            if training.merges.len().is_multiple_of(256) {
                progress(self.tokens.len())?;
            }
        }
        progress(self.tokens.len())?;
        training.tokens = self.tokens;
        Ok(training)
    }

    /// Appends a word's cells; gives how many there are.
    fn lay_out(
        &mut self,
        word: &[u8],
        count: u64,
        symbols: &HashMap<&[u8], u32, RandomState>,
    ) -> Result<u64> {
        let begin = self.cells.len();
        let mut inside = self.prefix.clone();
        for (at, character) in text::characters(word) {
            inside.truncate(self.prefix.len());
            inside.extend_from_slice(character);
            let written = if at == 0 { character } else { &inside[..] };
            if let Some(&symbol) = symbols.get(written) {
                self.cells.push(symbol);
                self.token_counts[symbol as usize] += count;
            }
        }
        let end = self.cells.len();
        if end >= END as usize {
            return Err(Error::Invalid(
                "the different words have more than 4 billion symbols".to_owned(),
            ));
        }
        self.word_of.resize(end, self.word_counts.len() as u32);
        self.word_counts.push(count);
        for cell in begin..end {
            let previous = if cell == begin { END } else { cell as u32 - 1 };
            let next = if cell + 1 == end {
                END
            } else {
                cell as u32 + 1
            };
            self.previous.push(previous);
            self.next.push(next);
        }
        Ok((end - begin) as u64)
    }

    fn find_pairs(&mut self) {
        for cell in 0..self.cells.len() as u32 {
            let next = self.next[cell as usize];
            if next != END {
                self.add(cell, next);
            }
        }
        for number in 0..self.pairs.len() as u32 {
            self.rank(number);
        }
    }

    /// Counts the pair of two cells that are neighbours now.
    fn add(&mut self, cell: u32, next: u32) {
        let (left, right) = (self.cells[cell as usize], self.cells[next as usize]);
        let fresh = self.pairs.len() as u32;
        let number = *self.numbers.entry((left, right)).or_insert(fresh);
        if number == fresh {
            self.pairs.push(Pair {
                left,
                right,
                count: 0,
                places: Vec::new(),
                unsorted: false,
                gone: 0,
                listed: false,
            });
        }
        let pair = &mut self.pairs[number as usize];
        pair.count += self.word_counts[self.word_of[cell as usize] as usize];
        pair.unsorted |= pair.places.last().is_some_and(|&last| last > cell);
        pair.places.push(cell);
        if !pair.listed {
            pair.listed = true;
            self.pairs_of[left as usize].push(number);
            if left != right {
                self.pairs_of[right as usize].push(number);
            }
        }
    }

    /// Takes the pair of two cells back, which are about to be neighbours no more.
    fn remove(&mut self, cell: u32, next: u32, count: u64) {
        let pair = (self.cells[cell as usize], self.cells[next as usize]);
        if let Some(&number) = self.numbers.get(&pair) {
            self.pairs[number as usize].count -= count;
        }
    }

    /// The id of the token that two become: a new one, unless there is one with this text.
    fn product(&mut self, left: u32, right: u32) -> Result<u32> {
        let (first, second) = (&self.tokens[left as usize], &self.tokens[right as usize]);
        let unmarked = second.strip_prefix(&self.prefix[..]).unwrap_or(second);
        let text = [first, unmarked].concat();
        let fresh = u32::try_from(self.tokens.len())
            .ok()
            .filter(|&id| id != GONE)
            .ok_or_else(|| Error::Invalid("there are more than 4 billion tokens".to_owned()))?;
        let id = *self.ids.entry(text.clone()).or_insert(fresh);
        if id == fresh {
            self.tokens.push(text);
            self.token_counts.push(0);
            self.pairs_of.push(Vec::new());
        }
        Ok(id)
    }

    /// Whether a pair still stands at a place. Tokens only grow, so none comes back to a cell.
    fn stands(&self, pair: &Pair, place: u32) -> bool {
        let next = self.next[place as usize];
        self.cells[place as usize] == pair.left
            && next != END
            && self.cells[next as usize] == pair.right
    }

    /// Merges a pair everywhere, from left to right.
    fn merge(&mut self, number: u32, product: u32) {
        self.sort_places(number);
        // Its count stays for now: merging "aaa" takes back an occurrence of the pair itself.
        let emptied = Pair {
            places: Vec::new(),
            gone: 0,
            ..self.pairs[number as usize]
        };
        let pair = std::mem::replace(&mut self.pairs[number as usize], emptied);
        for &place in &pair.places {
            if !self.stands(&pair, place) {
                continue;
            }
            let count = self.word_counts[self.word_of[place as usize] as usize];
            let taken = self.next[place as usize];
            let before = self.previous[place as usize];
            let after = self.next[taken as usize];
            if before != END {
                self.remove(before, place, count);
            }
            if after != END {
                self.remove(taken, after, count);
                self.previous[after as usize] = place;
            }
            self.next[place as usize] = after;
            self.cells[place as usize] = product;
            self.cells[taken as usize] = GONE;
            self.token_counts[pair.left as usize] -= count;
            self.token_counts[pair.right as usize] -= count;
            self.token_counts[product as usize] += count;
            if before != END {
                self.add(before, place);
            }
            if after != END {
                self.add(place, after);
            }
        }
        self.pairs[number as usize].count = 0;
    }

    /// Sets all pairs of a token anew, and forgets those that have become too rare.
    fn rank_pairs_of(&mut self, token: u32) {
        let mut numbers = std::mem::take(&mut self.pairs_of[token as usize]);
        numbers.retain(|&number| self.rank(number));
        self.pairs_of[token as usize] = numbers;
    }

    /// Puts a pair where its score belongs; tells whether it is frequent enough to have a place.
    fn rank(&mut self, number: u32) -> bool {
        let first = if self.tie == Tie::FirstSeen {
            self.first_place(number)
        } else {
            0
        };
        let pair = &mut self.pairs[number as usize];
        let frequent = pair.count >= self.minimum;
        pair.listed = frequent;
        let score = Score {
            count: pair.count,
            left_count: self.token_counts[pair.left as usize],
            right_count: self.token_counts[pair.right as usize],
            first,
            left: pair.left,
            right: pair.right,
        };
        let (tie, tokens) = (self.tie, &self.tokens);
        let before = |a: &Score, b: &Score| a.is_before(b, tie, tokens);
        if frequent {
            self.ranking.set(number, score, before);
        } else {
            self.ranking.remove(number, before);
        }
        frequent
    }

    fn sort_places(&mut self, number: u32) {
        let pair = &mut self.pairs[number as usize];
        if std::mem::take(&mut pair.unsorted) {
            pair.places.sort_unstable();
            pair.gone = 0;
        }
    }

    fn first_place(&mut self, number: u32) -> u32 {
        self.sort_places(number);
        let pair = &self.pairs[number as usize];
        let passed = pair.places[pair.gone..]
            .iter()
            .take_while(|&&place| !self.stands(pair, place))
            .count();
        let gone = pair.gone + passed;
        let first = pair.places.get(gone).copied().unwrap_or(END);
        self.pairs[number as usize].gone = gone;
        first
    }
}

#[cfg(test)]
mod tests;
