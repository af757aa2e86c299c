// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {PoseidonT3} from "../solidity/generated/PoseidonT3.sol";
import {PoseidonT3 as ReferencePoseidonT3} from "poseidon-solidity/PoseidonT3.sol";
import {TestBase} from "./support/TestBase.sol";

contract PoseidonHarness {
    function hash(uint256 left, uint256 right) external view returns (uint256 digest, uint256 gasUsed) {
        uint256 before = gasleft();
        digest = PoseidonT3.hash(left, right);
        gasUsed = before - gasleft();
    }
}

contract PoseidonT3Test is TestBase {
    uint256 internal constant R = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001;
    // What the README's table states; a change of the generated code shows here first.
    uint256 internal constant GAS_CEILING = 12_000;

    PoseidonHarness internal harness = new PoseidonHarness();

    function testFuzz_equalsAnIndependentImplementation(uint256 left, uint256 right) public view {
        left %= R;
        right %= R;
        (uint256 digest,) = harness.hash(left, right);
        assertEq(digest, ReferencePoseidonT3.hash([left, right]), "Poseidon");
    }

    function test_edgesOfTheField() public view {
        uint256[3] memory edges = [uint256(0), 1, R - 1];
        for (uint256 i = 0; i < 3; i++) {
            for (uint256 j = 0; j < 3; j++) {
                (uint256 digest,) = harness.hash(edges[i], edges[j]);
                assertEq(digest, ReferencePoseidonT3.hash([edges[i], edges[j]]), "Poseidon at an edge");
            }
        }
    }

    /// @dev Known answer of circomlib's poseidon([1, 2]).
    function test_knownAnswer() public view {
        (uint256 digest,) = harness.hash(1, 2);
        assertEq(
            digest, 7853200120776062878684798364095072458815029376092732009249414926327459813530, "poseidon([1, 2])"
        );
    }

    function test_costsLessThanTheCeiling() public view {
        (, uint256 gasUsed) = harness.hash(1, 2);
        assertTrue(gasUsed < GAS_CEILING, string.concat("gas of one hash: ", vm.toString(gasUsed)));
        assertTrue(gasUsed > 5_000, "a hash that costs nothing was not run");
    }
}
