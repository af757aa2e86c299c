// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {PublicInputs} from "../solidity/lib/PublicInputs.sol";
import {PoolFixture} from "./support/PoolFixture.sol";

contract PublicInputsHarness {
    function compress(uint256[] memory words) external pure returns (uint256 z, uint256 y) {
        return PublicInputs.compress(words);
    }
}

/// @dev The compression of protocol §5: against a straightforward implementation, against vectors, and
/// element by element.
contract PublicInputsTest is PoolFixture {
    PublicInputsHarness internal harness = new PublicInputsHarness();

    function _words(uint256 digest, uint256[] memory x) private pure returns (uint256[] memory words) {
        words = new uint256[](1 + x.length);
        words[0] = digest;
        for (uint256 i = 0; i < x.length; i++) {
            words[1 + i] = x[i];
        }
    }

    function testFuzz_equalsAStraightforwardImplementation(uint256 seed, uint256 length) public view {
        uint256[] memory x = new uint256[](bound(length, 1, 69));
        for (uint256 i = 0; i < x.length; i++) {
            uint256 random = uint256(keccak256(abi.encode(seed, i)));
            // Some edges among the random elements.
            x[i] = random % 7 == 0 ? R - 1 : random % 7 == 1 ? 0 : random % R;
        }
        uint256 digest = seed % R;
        (uint256 z, uint256 y) = harness.compress(_words(digest, x));
        (uint256 expectedZ, uint256 expectedY) = straightforward(digest, x);
        assertEq(z, expectedZ, "z");
        assertEq(y, expectedY, "y");
    }

    /// @dev D stays, one element changes: both z and y must move, for every element and every size.
    function test_everyElementMovesBothZAndY() public view {
        for (uint256 size = 16; size <= 64; size += 48) {
            uint256[] memory x = publicVector(makeBatch(size, "a"));
            uint256 digest = uint256(fieldElement("digest"));
            (uint256 z, uint256 y) = harness.compress(_words(digest, x));
            for (uint256 i = 0; i < x.length; i++) {
                uint256[] memory flipped = _words(digest, x);
                flipped[1 + i] ^= 1;
                (uint256 otherZ, uint256 otherY) = harness.compress(flipped);
                assertTrue(otherZ != z, string.concat("z ignores element ", vm.toString(i)));
                assertTrue(otherY != y, string.concat("y ignores element ", vm.toString(i)));
                // And with z held fixed, y alone still tells the vectors apart.
                assertTrue(_evaluate(x, z) != _evaluateFlipped(x, i, z), "the polynomial ignores an element");
            }
            (uint256 digestZ,) = harness.compress(_words(digest ^ 1, x));
            assertTrue(digestZ != z, "z ignores the digest");
        }
    }

    function _evaluate(uint256[] memory x, uint256 z) private pure returns (uint256 y) {
        for (uint256 i = x.length; i > 0; i--) {
            y = addmod(x[i - 1], mulmod(z, y, R), R);
        }
    }

    function _evaluateFlipped(uint256[] memory x, uint256 position, uint256 z) private pure returns (uint256 y) {
        x[position] ^= 1;
        y = _evaluate(x, z);
        x[position] ^= 1;
    }

    function test_refusesEveryElementOutOfRange() public {
        uint256[] memory x = publicVector(makeBatch(16, "a"));
        for (uint256 i = 0; i < 1 + x.length; i++) {
            uint256[] memory words = _words(uint256(fieldElement("digest")), x);
            words[i] = R;
            vm.expectRevert(PublicInputs.FieldElementOutOfRange.selector);
            harness.compress(words);
            words[i] = type(uint256).max;
            vm.expectRevert(PublicInputs.FieldElementOutOfRange.selector);
            harness.compress(words);
        }
    }

    /// @dev vectors/fund-public-inputs.json, from an implementation outside this package.
    function test_equalsTheVectors() public view {
        string memory json = vm.readFile("../../vectors/fund-public-inputs.json");
        uint256 checked = 0;
        for (; vm.keyExistsJson(json, _at(checked, "")); checked++) {
            uint256[] memory x = vm.parseJsonUintArray(json, _at(checked, ".x"));
            uint256 digest = vm.parseJsonUint(json, _at(checked, ".digest"));
            (uint256 z, uint256 y) = harness.compress(_words(digest, x));
            assertEq(z, vm.parseJsonUint(json, _at(checked, ".z")), "z");
            assertEq(y, vm.parseJsonUint(json, _at(checked, ".y")), "y");
        }
        assertTrue(checked >= 2, "no vectors");
    }

    function _at(uint256 index, string memory field) private pure returns (string memory) {
        return string.concat(".batches[", vm.toString(index), "]", field);
    }
}
