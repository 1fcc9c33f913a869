//! Each piece is looked up as a whole.

use super::model::{Found, Model, check_unknown};
use super::scratch::Scratch;
use crate::error::{Result, invalid};
use crate::tables::{PieceTable, TokenTable};
use crate::text;

/// How many characters of a piece an error shows.
const SHOWN: usize = 40;

/// Gives the token that a piece is, or the unknown one.
#[derive(Debug)]
pub struct WordLevel {
    tokens: TokenTable<'static>,
    pieces: PieceTable<'static>,
    unk_id: Option<u32>,
    fuse_unk: bool,
}

impl WordLevel {
    /// Builds the table.
    ///
    /// # Errors
    /// Names two ids with the same bytes, or an id out of range.
    pub fn new(tokens: TokenTable<'static>, unk_id: Option<u32>, fuse_unk: bool) -> Result<Self> {
        check_unknown(unk_id)?;
        let pieces = PieceTable::build(&tokens)?;
        Ok(Self {
            tokens,
            pieces,
            unk_id,
            fuse_unk,
        })
    }
}

impl Model for WordLevel {
    fn tokens(&self) -> &TokenTable<'static> {
        &self.tokens
    }

    fn encode_piece(&self, piece: &[u8], _: &mut Scratch, out: &mut Vec<Found>) -> Result<()> {
        let known = self.pieces.get(piece, &self.tokens).or(self.unk_id);
        let id = known.ok_or_else(|| {
            invalid!(
                "the piece {} has no token, and there is none for unknown ones",
                shown(piece)
            )
        })?;
        out.push(Found {
            id,
            start: 0,
            end: piece.len() as u32,
        });
        Ok(())
    }

    fn fuses(&self) -> Option<u32> {
        self.unk_id.filter(|_| self.fuse_unk)
    }
}

/// The beginning of a piece, for a sentence.
fn shown(piece: &[u8]) -> String {
    let end = text::characters(piece)
        .nth(SHOWN)
        .map_or(piece.len(), |(at, _)| at);
    let rest = if end < piece.len() { "..." } else { "" };
    format!("{:?}{rest}", String::from_utf8_lossy(&piece[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(unk_id: Option<u32>, piece: &[u8]) -> Result<Vec<Found>> {
        let tokens = TokenTable::new(b"thecat"[..].into(), vec![3, 3, 6].into())?;
        let mut out = Vec::new();
        let model = WordLevel::new(tokens, unk_id, false)?;
        model.encode_piece(piece, &mut Scratch::default(), &mut out)?;
        assert_eq!(model.tokens().get(2), b"cat");
        Ok(out)
    }

    #[test]
    fn looks_pieces_up_as_a_whole() {
        let found = |id, end| vec![Found { id, start: 0, end }];
        assert_eq!(encode(None, b"cat"), Ok(found(2, 3)));
        assert_eq!(encode(Some(1), b"the"), Ok(found(0, 3)));
        assert_eq!(encode(Some(7), b"cats"), Ok(found(7, 4)));
        assert!(encode(Some(u32::MAX), b"cat").is_err());
    }

    #[test]
    fn unknown_tokens_fuse_where_they_are_to() {
        let fuses = |unk_id, fuse_unk| {
            let tokens = TokenTable::new(b"the"[..].into(), vec![3].into()).unwrap();
            WordLevel::new(tokens, unk_id, fuse_unk).unwrap().fuses()
        };
        assert_eq!(fuses(Some(7), true), Some(7));
        assert_eq!(fuses(Some(7), false), None);
        assert_eq!(fuses(None, true), None);
    }

    #[test]
    fn names_what_it_does_not_know() {
        let sentence = |piece: &[u8]| encode(None, piece).unwrap_err().to_string();
        assert_eq!(
            sentence(b"c\xffts"),
            "the piece \"c\u{fffd}ts\" has no token, and there is none for unknown ones"
        );
        assert!(sentence(&[b'x'; 9999]).len() < 120);
    }
}
