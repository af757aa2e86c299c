// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {NoteTree} from "../solidity/lib/NoteTree.sol";
import {PoseidonT3} from "../solidity/generated/PoseidonT3.sol";
import {TestBase} from "./support/TestBase.sol";

contract NoteTreeHarness {
    using NoteTree for NoteTree.State;

    NoteTree.State private _tree;
    uint64 public count;

    function append(uint256 leaf) external returns (uint256 root) {
        root = _tree.append(count, leaf);
        count++;
    }

    function computeRoot() external view returns (uint256) {
        return _tree.computeRoot(count);
    }

    function isKnown(uint256 root) external view returns (bool) {
        return _tree.madeBy[root] != 0;
    }

    /// @dev Puts the tree where 2^24 insertions would have brought it, without making them.
    function pretend(uint64 count_, uint256[] calldata frontier) external {
        count = count_;
        for (uint256 level = 0; level < frontier.length; level++) {
            _tree.frontier[level] = frontier[level];
        }
    }

    function hash(uint256 left, uint256 right) external pure returns (uint256) {
        return PoseidonT3.hash(left, right);
    }
}

contract NoteTreeTest is TestBase {
    uint256 internal constant R = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001;

    NoteTreeHarness internal tree = new NoteTreeHarness();

    /// @dev A LeanIMT by its definition: level by level, a node without a right sibling rises unchanged.
    function _referenceRoot(uint256[] memory leaves, uint256 size) private view returns (uint256) {
        uint256[] memory level = new uint256[](size);
        for (uint256 i = 0; i < size; i++) {
            level[i] = leaves[i];
        }
        for (; size > 1; size = (size + 1) / 2) {
            for (uint256 i = 0; i < (size + 1) / 2; i++) {
                level[i] = 2 * i + 1 < size ? tree.hash(level[2 * i], level[2 * i + 1]) : level[2 * i];
            }
        }
        return level[0];
    }

    /// forge-config: default.fuzz.runs = 12
    function testFuzz_equalsTheDefinition(uint256 seed) public {
        uint256[] memory leaves = new uint256[](40);
        for (uint256 i = 0; i < leaves.length; i++) {
            leaves[i] = uint256(keccak256(abi.encode(seed, i))) % R;
            uint256 root = tree.append(leaves[i]);
            assertEq(root, _referenceRoot(leaves, i + 1), "root");
            assertEq(tree.computeRoot(), root, "recomputed root");
        }
    }

    /// @dev vectors/note-tree.json, made with zk-kit's lean-imt.
    function test_equalsTheVectorsAndForgetsNoRoot() public {
        string memory json = vm.readFile("../../vectors/note-tree.json");
        uint256 size = 0;
        for (; vm.keyExistsJson(json, _at(size, "")); size++) {
            uint256 root = tree.append(vm.parseJsonUint(json, _at(size, ".leaf")));
            assertEq(root, vm.parseJsonUint(json, _at(size, ".root")), "root");
        }
        assertTrue(size >= 16, "no vectors");
        for (uint256 i = 0; i < size; i++) {
            assertTrue(tree.isKnown(vm.parseJsonUint(json, _at(i, ".root"))), "a past root is forgotten");
        }
        assertTrue(!tree.isKnown(0), "zero is a known root");
    }

    function _at(uint256 index, string memory field) private pure returns (string memory) {
        return string.concat(".insertions[", vm.toString(index), "]", field);
    }

    function test_startsANewTreeWhenTheOldOneIsFull() public {
        uint256[] memory frontier = new uint256[](25);
        for (uint256 level = 0; level < 25; level++) {
            frontier[level] = 1000 + level;
        }
        // One place is left: the last leaf completes every level.
        tree.pretend((1 << 24) - 1, frontier);
        uint256 expected = 7;
        for (uint256 level = 0; level < 24; level++) {
            expected = tree.hash(1000 + level, expected);
        }
        uint256 full = tree.append(7);
        assertEq(full, expected, "root of the full tree");
        assertEq(tree.computeRoot(), full, "recomputed root of the full tree");

        assertEq(tree.append(8), 8, "the first leaf of the new tree is its root");
        assertEq(tree.computeRoot(), 8, "recomputed root of the new tree");
        assertEq(tree.append(9), tree.hash(8, 9), "second leaf");
        assertEq(tree.append(10), tree.hash(tree.hash(8, 9), 10), "third leaf");
        assertTrue(tree.isKnown(full), "the full tree's root is forgotten");
        assertEq(tree.count(), (1 << 24) + 3, "count over all trees");
    }

    function test_refusesAZeroRoot() public {
        vm.expectRevert(NoteTree.ZeroRoot.selector);
        tree.append(0);
    }

    function test_anEmptyTreeHasNoRoot() public view {
        assertEq(tree.computeRoot(), 0, "root");
    }
}
