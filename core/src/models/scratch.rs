//! Working memory that is used again from piece to piece, for whichever model needs it.

use std::any::Any;

use super::found::Found;

/// What a worker lends a model with each piece.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The model's own.
    pub own: Own,
    /// Tokens on their way to become ids.
    pub found: Vec<Found>,
    /// What scores have added up to, see [`super::model::Carrying`].
    pub sum: f64,
    /// How far a result holds, see [`super::model::Carrying`].
    pub bound: f32,
}

/// Memory whose form only the model that uses it knows. A worker serves one model, so it is made once.
#[derive(Debug, Default)]
pub struct Own(Option<Box<dyn Any + Send>>);

impl Own {
    /// The memory in a model's form; new if this was another model's.
    #[inline]
    pub fn of<T: Any + Default + Send>(&mut self) -> &mut T {
        if !self.0.as_ref().is_some_and(|memory| memory.is::<T>()) {
            self.0 = Some(Box::<T>::default());
        }
        let memory = self.0.as_mut().and_then(|memory| memory.downcast_mut());
        memory.expect("just made in this form")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_stays_with_its_form() {
        let mut own = Own::default();
        own.of::<Vec<u8>>().push(1);
        assert_eq!(own.of::<Vec<u8>>(), &[1]);
        assert_eq!(own.of::<String>(), "");
        assert!(own.of::<Vec<u8>>().is_empty());
    }
}
