//! Building a byte-pair model: from ranks, from merges, from a document, from what a build script wrote.

use std::borrow::Cow;

use super::narrowed::Narrowed;
use super::{Bpe, LONGEST_TOKEN};
use crate::error::{Result, ensure, invalid};
use crate::models::merging::table::MergeTable;
use crate::tables::{
    AsciiTable, CharacterTable, Edges, MAX_TOKENS, NONE, PairTable, PieceTable, TokenTable,
    recover_merges,
};
use crate::threads::both;
use crate::threads::made_once::MadeOnce;
use crate::written;

/// So many merges are laid out by two threads.
const MANY: usize = 1 << 15;

impl Bpe {
    /// Builds a model that merges by the rank of the concatenation; a whole piece that is a token is
    /// taken as it is.
    ///
    /// # Errors
    /// A sentence that names what contradicts itself in the vocabulary.
    pub fn from_ranks(tokens: TokenTable<'static>) -> Result<Self> {
        let pieces = PieceTable::build(&tokens)?;
        check_lengths(&tokens)?;
        let recovered = recover_merges(&tokens, &pieces);
        let happen = recovered.merges.iter().chain(&recovered.late);
        let happen: Vec<_> = happen
            .map(|merge| (merge.left, merge.right, merge.product))
            .collect();
        let no_products = Cow::Borrowed(&[][..]);
        if recovered.unreachable.is_empty() {
            let model = Self::new(tokens, Some(pieces), &happen, no_products, true)?;
            model.unreached.get_or_make(|| None);
            return Ok(model);
        }
        // Who leaves merges out at random may come to any of them.
        let all = all_splits(&tokens, &pieces);
        let model = Self::new(tokens, Some(pieces), &all, no_products, true)?;
        model
            .narrowed
            .get_or_make(|| Narrowed::new(&model, &happen));
        let late: Vec<u32> = recovered.late.iter().map(|merge| merge.product).collect();
        let mut unreached = recovered.unreachable;
        unreached.retain(|id| late.binary_search(id).is_err());
        model.unreached.get_or_make(|| model.table_of(&unreached));
        Ok(model)
    }

    /// Builds a model from merges (left, right, product) in order of priority.
    ///
    /// # Errors
    /// A sentence that names the first merge whose parts or product do not fit together.
    pub fn from_merges(
        tokens: TokenTable<'static>,
        merges: &[[u32; 3]],
        whole_pieces: bool,
    ) -> Result<Self> {
        let pieces = PieceTable::build(&tokens)?;
        let mut entries = Vec::with_capacity(merges.len());
        for (rank, &[left, right, product]) in merges.iter().enumerate() {
            let (l, r, p) = (tokens.get(left), tokens.get(right), tokens.get(product));
            let fits = !l.is_empty() && !r.is_empty() && p.len() == l.len() + r.len();
            ensure!(
                fits && p.starts_with(l) && p.ends_with(r),
                "merge {rank} joins ids {left} and {right} to {product}, whose bytes are not theirs joined"
            );
            entries.push((left, right, rank as u32));
        }
        let products = merges.iter().map(|merge| merge[2]).collect();
        Self::new(
            tokens,
            Some(pieces),
            &entries,
            Cow::Owned(products),
            whole_pieces,
        )
    }

    /// Builds a model from tables that a document was read into: what [`Bpe::from_merges`] checks is known of them.
    ///
    /// # Errors
    /// As [`Bpe::from_merges`], for a vocabulary that was made to collide.
    pub fn from_written(tables: &written::Tables, whole_pieces: bool) -> Result<Self> {
        let tokens = TokenTable::new(tables.blob.clone().into(), tables.ends.clone().into())?;
        let pieces = match whole_pieces {
            true => Some(PieceTable::build(&tokens)?),
            false => None,
        };
        let (entries, products): (Vec<_>, Vec<_>) = (0..)
            .zip(&tables.triples)
            .map(|(rank, &[left, right, product])| ((left, right, rank), product))
            .unzip();
        Self::new(tokens, pieces, &entries, Cow::Owned(products), whole_pieces)
    }

    fn new(
        tokens: TokenTable<'static>,
        pieces: Option<PieceTable<'static>>,
        entries: &[(u32, u32, u32)],
        products: Cow<'static, [u32]>,
        whole_pieces: bool,
    ) -> Result<Self> {
        let mut byte_ids = [NONE; 256];
        for (id, bytes) in tokens.iter() {
            if let [byte] = *bytes {
                byte_ids[byte as usize] = id;
            }
        }
        let (merges, edges) = both(
            if entries.len() < MANY { 1 } else { 2 },
            || MergeTable::new(entries, products, tokens.len()),
            || Edges::new(&tokens, entries.iter().copied()),
        );
        let merges = merges?;
        let characters = merges.characters(edges, &byte_ids);
        let tables = (merges, characters);
        Ok(Self::of_tables(
            tokens,
            pieces,
            tables,
            byte_ids,
            whole_pieces,
        ))
    }

    /// Puts tables together; what is worked out when it is needed is not known yet.
    fn of_tables(
        tokens: TokenTable<'static>,
        pieces: Option<PieceTable<'static>>,
        (merges, characters): (MergeTable, CharacterTable<'static>),
        byte_ids: [u32; 256],
        whole_pieces: bool,
    ) -> Self {
        Self {
            tokens,
            pieces,
            merges,
            byte_ids,
            characters,
            whole_pieces,
            unreached: MadeOnce::default(),
            narrowed: MadeOnce::default(),
            ascii: MadeOnce::default(),
            blanks: MadeOnce::default(),
            superwords: MadeOnce::default(),
            ideographs: MadeOnce::default(),
        }
    }

    /// The same model with only some of its merges, given as (left, right, rank); it merges even what is a token as a whole.
    ///
    /// # Errors
    /// As [`MergeTable::only`].
    pub(super) fn only(&self, entries: &[(u32, u32, u32)]) -> Result<Self> {
        let merges = self.merges.only(entries, self.tokens.len())?;
        let edges = Edges::new(&self.tokens, entries.iter().copied());
        let characters = merges.characters(edges, &self.byte_ids);
        let tables = (merges, characters);
        let tokens = self.tokens.clone();
        Ok(Self::of_tables(tokens, None, tables, self.byte_ids, false))
    }

    /// Trusts parts that belong together: those a build script wrote. Merges must be monotone,
    /// reach every token, and stay inside words; whole pieces are taken as they are.
    #[must_use]
    pub fn from_parts(
        tokens: TokenTable<'static>,
        pieces: PieceTable<'static>,
        pairs: PairTable<'static>,
        products: Cow<'static, [u32]>,
        byte_ids: [u32; 256],
        characters: CharacterTable<'static>,
        ascii: AsciiTable<'static>,
    ) -> Self {
        let merges = MergeTable::from_parts(pairs, products, true);
        let tables = (merges, characters);
        Self {
            unreached: MadeOnce::from(None),
            narrowed: MadeOnce::from(None),
            ascii: MadeOnce::from(ascii),
            superwords: MadeOnce::from(None),
            ..Self::of_tables(tokens, Some(pieces), tables, byte_ids, true)
        }
    }
}

/// Every way to put a token together from two others, with its id as the rank.
fn all_splits(tokens: &TokenTable<'_>, pieces: &PieceTable<'_>) -> Vec<(u32, u32, u32)> {
    let mut entries = Vec::new();
    for (id, bytes) in tokens.iter() {
        for middle in 1..bytes.len() {
            if let (Some(left), Some(right)) = (
                pieces.get(&bytes[..middle], tokens),
                pieces.get(&bytes[middle..], tokens),
            ) {
                entries.push((left, right, id));
            }
        }
    }
    entries
}

/// Refuses tokens that no trainer makes and that would take hours to lay out.
fn check_lengths(tokens: &TokenTable<'_>) -> Result<()> {
    debug_assert!(tokens.len() <= MAX_TOKENS);
    match tokens.iter().find(|(_, bytes)| bytes.len() > LONGEST_TOKEN) {
        Some((id, bytes)) => Err(invalid!(
            "token {id} has {} bytes; at most {LONGEST_TOKEN} are handled",
            bytes.len()
        )),
        None => Ok(()),
    }
}
