// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {PoseidonT3} from "../generated/PoseidonT3.sol";

/// @title The tree of batches: a LeanIMT over Poseidon whose leaves are batch roots (protocol §4).
/// @notice In a LeanIMT a node without a right sibling rises unchanged, so the depth follows the size.
/// Every root that ever was stays known. After 2^24 leaves a new tree starts; nothing depends on a
/// position, so a full tree never stops anything.
/// @dev Only roots of *complete* subtrees are ever read again. An insertion completes exactly one subtree
/// that waits for a right sibling, so it writes one frontier word, where the usual implementation writes one
/// per level. A linked library, because Poseidon fills most of a contract; the whole insertion is one
/// delegatecall. The owner keeps the number of leaves, to pack it with other small values.
/// Vectors: vectors/lean-imt.json, made with the package lean-imt of zk-kit.
library NoteTree {
    uint256 internal constant MAX_DEPTH = 24;
    uint256 private constant TREE_CAPACITY = 1 << MAX_DEPTH;

    struct State {
        /// frontier[level]: root of the last complete subtree of 2^level leaves that starts at a multiple of
        /// 2^(level + 1). Stale words of an earlier tree are never read.
        uint256[MAX_DEPTH + 1] frontier;
        /// Root to 1 + index of the leaf that made it; 0 means unknown.
        mapping(uint256 root => uint64) madeBy;
    }

    error ZeroRoot();

    /// @param index Number of leaves before this one, over all trees.
    /// @param leaf Below r: the caller checks it.
    /// @return root The new root.
    function append(State storage self, uint64 index, uint256 leaf) external returns (uint256 root) {
        uint256 position = index % TREE_CAPACITY;
        uint256 level = 0;
        root = leaf;
        // Each trailing one is a complete left sibling: the subtree grows.
        for (; position & 1 == 1; position >>= 1) {
            root = PoseidonT3.hash(self.frontier[level], root);
            level++;
        }
        self.frontier[level] = root;
        // From here on the node is incomplete: it has left siblings only where a bit is set.
        for (position >>= 1; position != 0; position >>= 1) {
            level++;
            if (position & 1 == 1) root = PoseidonT3.hash(self.frontier[level], root);
        }
        // Zero means "no root" wherever roots are compared.
        if (root == 0) revert ZeroRoot();
        self.madeBy[root] = index + 1;
    }

    /// @notice Folds the frontier: one word per set bit of the size, smallest subtree first.
    /// @param count Number of leaves, over all trees.
    /// @return root Root of the tree that grew last, 0 before the first leaf.
    function computeRoot(State storage self, uint64 count) external view returns (uint256 root) {
        if (count == 0) return 0;
        uint256 size = count % TREE_CAPACITY;
        if (size == 0) return self.frontier[MAX_DEPTH];
        uint256 level = 0;
        for (; size & 1 == 0; size >>= 1) {
            level++;
        }
        root = self.frontier[level];
        for (size >>= 1; size != 0; size >>= 1) {
            level++;
            if (size & 1 == 1) root = PoseidonT3.hash(self.frontier[level], root);
        }
    }
}
