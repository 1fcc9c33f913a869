//! Rank tables that lie in the library's read-only data, ready for use, known by the sha256 of the
//! file they were published as (see `build/ranks.rs`). Without the feature `embedded` there are none.

use std::borrow::Cow;

use crate::models::bpe::Bpe;
use crate::tables::{AsciiTable, CharacterTable, PairTable, PieceTable, TokenTable};

/// The arrays of one rank file.
pub struct EmbeddedTable {
    sha256: &'static str,
    blob: &'static [u8],
    ends: &'static Aligned<[u8]>,
    pieces: &'static Aligned<[u8]>,
    pairs: &'static Aligned<[u8]>,
    filter: &'static Aligned<[u8]>,
    characters: &'static Aligned<[u8]>,
    ascii: &'static Aligned<[u8]>,
    bytes: &'static Aligned<[u8]>,
}

/// Bytes that begin on a cache line, so that they can be read as integers.
#[repr(C, align(64))]
struct Aligned<T: ?Sized>(T);

#[cfg(feature = "embedded")]
macro_rules! embedded_table {
    (@array $sha256:literal, $kind:literal) => {
        &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/", $sha256, ".", $kind)))
    };
    ($sha256:literal) => {
        EmbeddedTable {
            sha256: $sha256,
            blob: include_bytes!(concat!(env!("OUT_DIR"), "/", $sha256, ".blob")),
            ends: embedded_table!(@array $sha256, "ends"),
            pieces: embedded_table!(@array $sha256, "pieces"),
            pairs: embedded_table!(@array $sha256, "pairs"),
            filter: embedded_table!(@array $sha256, "filter"),
            characters: embedded_table!(@array $sha256, "characters"),
            ascii: embedded_table!(@array $sha256, "ascii"),
            bytes: embedded_table!(@array $sha256, "bytes"),
        }
    };
}

#[cfg(feature = "embedded")]
static TABLES: &[EmbeddedTable] = &include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
#[cfg(not(feature = "embedded"))]
static TABLES: &[EmbeddedTable] = &[];

/// Gives the sha256 of each table.
pub fn tables() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|table| table.sha256)
}

/// Finds a table.
#[must_use]
pub fn find(sha256: &str) -> Option<&'static EmbeddedTable> {
    TABLES.iter().find(|table| table.sha256 == sha256)
}

impl EmbeddedTable {
    /// The tokens by rank.
    #[must_use]
    pub fn tokens(&self) -> TokenTable<'static> {
        TokenTable::from_static(self.blob, bytemuck::cast_slice(&self.ends.0))
    }

    /// The model, without any parsing: it reads the arrays where they lie.
    #[must_use]
    pub fn model(&self) -> Bpe {
        let bytes: &[u32] = bytemuck::cast_slice(&self.bytes.0);
        let mut byte_ids = [0; 256];
        byte_ids.copy_from_slice(bytes);
        Bpe::from_parts(
            self.tokens(),
            PieceTable::from_static(bytemuck::cast_slice(&self.pieces.0)),
            PairTable::from_static(
                bytemuck::cast_slice(&self.pairs.0),
                bytemuck::cast_slice(&self.filter.0),
            ),
            Cow::Borrowed(&[]),
            byte_ids,
            CharacterTable::from_static(bytemuck::cast_slice(&self.characters.0)),
            AsciiTable::from_static(bytemuck::cast_slice(&self.ascii.0)),
        )
    }
}

#[cfg(all(test, feature = "embedded"))]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_found_by_its_bytes() {
        for table in TABLES {
            let (tokens, model) = (table.tokens(), table.model());
            assert!(tokens.len() > 50_000);
            for (id, bytes) in tokens.iter() {
                let mut ids = Vec::new();
                model
                    .encode_piece(bytes, &mut Default::default(), &mut ids)
                    .unwrap();
                assert_eq!(ids, [id]);
            }
        }
    }

    /// `Bpe::from_parts` relies on it.
    #[test]
    fn every_token_is_reached_by_merging_too() {
        for table in TABLES {
            let (tokens, model) = (table.tokens(), table.model().without_whole_pieces());
            for (id, bytes) in tokens.iter() {
                let mut ids = Vec::new();
                model
                    .encode_piece(bytes, &mut Default::default(), &mut ids)
                    .unwrap();
                assert_eq!(ids, [id]);
            }
        }
    }
}
