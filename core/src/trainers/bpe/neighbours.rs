//! What one merge finds next to its product, on one side: summed up by token, so that the pairs are
//! looked up once a merge and not once an occurrence.

use super::pairs::Pairs;

/// A token that is a neighbour.
#[derive(Clone, Copy, Debug, Default)]
struct Neighbour {
    count: u64,
    /// In how many places.
    places: u32,
    /// The pair that it makes with the product, numbered from 1; 0 for none.
    pair: u32,
}

/// The neighbours on one side.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    /// For each token.
    by_token: Vec<Neighbour>,
    /// Tokens that were met, in that order.
    met: Vec<u32>,
    /// Each neighbour, and where the pair with it begins.
    all: Vec<(u32, u32)>,
}

impl Neighbours {
    /// Makes room for so many tokens.
    pub fn reserve(&mut self, tokens: usize) {
        self.by_token.resize(tokens, Neighbour::default());
    }

    /// Takes one in.
    #[inline]
    pub fn meet(&mut self, token: u32, place: u32, count: u64) {
        let neighbour = &mut self.by_token[token as usize];
        if neighbour.places == 0 {
            self.met.push(token);
        }
        neighbour.count += count;
        neighbour.places += 1;
        self.all.push((token, place));
    }

    /// Tokens with the sum of their counts.
    pub fn sums(&self) -> impl Iterator<Item = (u32, u64)> {
        self.met
            .iter()
            .map(|&token| (token, self.by_token[token as usize].count))
    }

    /// Adds the neighbours to the pairs that they make with the product, and gives the numbers of those.
    /// `pair_of` says which that is, if it is kept at all.
    pub fn spread(
        &mut self,
        pairs: &mut Pairs,
        pair_of: impl Fn(&mut Pairs, u32, u64) -> Option<u32>,
        grown: &mut Vec<u32>,
    ) {
        let already = grown.len();
        for &token in &self.met {
            let neighbour = &mut self.by_token[token as usize];
            if let Some(number) = pair_of(pairs, token, neighbour.count) {
                neighbour.pair = number + 1;
                pairs.all[number as usize]
                    .places
                    .reserve_exact(neighbour.places as usize);
                grown.push(number);
            }
        }
        if grown.len() == already {
            return;
        }
        for &(token, place) in &self.all {
            if let Some(number) = self.by_token[token as usize].pair.checked_sub(1) {
                pairs.all[number as usize].places.push(place);
            }
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        for token in self.met.drain(..) {
            self.by_token[token as usize] = Neighbour::default();
        }
        self.all.clear();
    }
}
