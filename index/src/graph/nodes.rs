//! Which slots stand behind which node: one node a distinct point. It must not know of links or distances.

use std::collections::HashMap;

/// Nodes are numbered from 0 and never reused; a node without slots is dead.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    /// Node by the XXH3-128 of its point.
    by_point: HashMap<u128, u32>,
    by_slot: HashMap<u32, u32>,
    /// The point's hash and the slots of each node.
    nodes: Vec<(u128, Vec<u32>)>,
    dead: usize,
}

/// What a point was to the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placed {
    /// A node of this point was there already.
    Known,
    /// A node was numbered for it; it has yet to enter the graph.
    New(u32),
}

impl Nodes {
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn dead(&self) -> usize {
        self.dead
    }

    pub(super) fn slot_count(&self) -> usize {
        self.by_slot.len()
    }

    pub(super) fn slots(&self) -> impl Iterator<Item = u32> {
        self.by_slot.keys().copied()
    }

    /// The slots of a node, in no order; none for an unknown or dead one.
    pub(super) fn slots_of(&self, node: usize) -> &[u32] {
        self.nodes.get(node).map_or(&[], |(_, slots)| slots)
    }

    /// Whether `slot` stands behind the node of this point.
    pub(super) fn holds(&self, slot: u32, point: u128) -> bool {
        self.by_slot.get(&slot).is_some_and(|&node| self.nodes[node as usize].0 == point)
    }

    /// Puts `slot` behind the node of `point`, and away from the one it stood behind.
    pub(super) fn place(&mut self, slot: u32, point: u128) -> Placed {
        if self.holds(slot, point) {
            return Placed::Known;
        }
        self.remove(slot);
        let next = self.nodes.len() as u32;
        let node = *self.by_point.entry(point).or_insert(next);
        self.by_slot.insert(slot, node);
        if node == next {
            self.nodes.push((point, vec![slot]));
            return Placed::New(node);
        }
        let slots = &mut self.nodes[node as usize].1;
        if slots.is_empty() {
            self.dead -= 1;
        }
        slots.push(slot);
        Placed::Known
    }

    /// Takes `slot` away; its node may die of it. False when it stood nowhere.
    pub(super) fn remove(&mut self, slot: u32) -> bool {
        let Some(node) = self.by_slot.remove(&slot) else { return false };
        let slots = &mut self.nodes[node as usize].1;
        slots.retain(|&other| other != slot);
        if slots.is_empty() {
            slots.shrink_to_fit();
            self.dead += 1;
        }
        true
    }

    /// Little-endian: nodes u32; for each its point's hash u128, slots u32, and each slot u32.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(4 + self.nodes.len() * 24);
        out.extend_from_slice(&(self.nodes.len() as u32).to_le_bytes());
        for (point, slots) in &self.nodes {
            out.extend_from_slice(&point.to_le_bytes());
            out.extend_from_slice(&(slots.len() as u32).to_le_bytes());
            slots.iter().for_each(|slot| out.extend_from_slice(&slot.to_le_bytes()));
        }
        out
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote; `None` when it is anything else.
    pub(super) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let mut read = Self::default();
        let count = take_u32(&mut bytes)?;
        for node in 0..count {
            let (point, rest) = bytes.split_first_chunk()?;
            bytes = rest;
            let slot_count = take_u32(&mut bytes)? as usize;
            let mut slots = Vec::with_capacity(slot_count.min(bytes.len() / 4));
            for _ in 0..slot_count {
                let slot = take_u32(&mut bytes)?;
                if read.by_slot.insert(slot, node).is_some() {
                    return None;
                }
                slots.push(slot);
            }
            read.dead += usize::from(slots.is_empty());
            let point = u128::from_le_bytes(*point);
            if read.by_point.insert(point, node).is_some() {
                return None;
            }
            read.nodes.push((point, slots));
        }
        bytes.is_empty().then_some(read)
    }
}

fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*first))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_a_node_and_a_node_can_die_and_come_back() {
        let mut nodes = Nodes::default();
        assert_eq!(nodes.place(1, 10), Placed::New(0));
        assert_eq!(nodes.place(2, 10), Placed::Known);
        assert_eq!(nodes.place(3, 30), Placed::New(1));
        assert_eq!((nodes.len(), nodes.slot_count(), nodes.dead()), (2, 3, 0));
        assert_eq!(nodes.place(3, 10), Placed::Known); // slot 3 has another vector now
        assert_eq!((nodes.slots_of(0), nodes.slots_of(1), nodes.dead()), (&[1, 2, 3][..], &[][..], 1));
        assert_eq!(nodes.place(4, 30), Placed::Known);
        assert_eq!(nodes.dead(), 0);
        assert!(nodes.remove(4) && !nodes.remove(4));
        assert!(nodes.holds(1, 10) && !nodes.holds(1, 30) && !nodes.holds(4, 30));
        assert!(nodes.slots_of(99).is_empty());
    }

    #[test]
    fn bytes_come_back_and_cut_ones_are_refused() {
        let mut nodes = Nodes::default();
        for slot in 0..20 {
            nodes.place(slot, u128::from(slot % 7));
        }
        nodes.remove(3);
        nodes.remove(10);
        nodes.remove(17);
        let bytes = nodes.to_bytes();
        let back = Nodes::from_bytes(&bytes).unwrap();
        assert_eq!(back.to_bytes(), bytes);
        assert_eq!((back.dead(), back.slot_count()), (nodes.dead(), nodes.slot_count()));
        assert_eq!(back.dead(), 1);
        for end in 0..bytes.len() {
            assert!(Nodes::from_bytes(&bytes[..end]).is_none());
        }
        assert!(Nodes::from_bytes(&u32::MAX.to_le_bytes()).is_none());
    }
}
