// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Groth16Proof} from "../solidity/interfaces/IGroth16Verifier.sol";
import {SpendCall} from "../solidity/interfaces/IShieldedPool.sol";
import {SpendStatement} from "../solidity/lib/SpendStatement.sol";
import {SpendFixture} from "./support/SpendFixture.sol";
import {TrapdoorVerifier} from "./support/TrapdoorVerifier.sol";

contract SpendStatementHarness {
    function encode(uint256 assetId, SpendCall calldata operation, bytes32 sealedNotesHash)
        external
        pure
        returns (uint256[] memory)
    {
        return SpendStatement.encode(assetId, operation, sealedNotesHash);
    }
}

/// @dev The public vector of protocol §6, against the fixture's own reading of it.
contract SpendStatementTest is SpendFixture {
    SpendStatementHarness internal harness = new SpendStatementHarness();

    /// forge-config: default.fuzz.runs = 64
    function testFuzz_isTheVectorOfTheProtocol(uint256 seed, bool large) public view {
        SpendCall memory operation = large ? makeTransfer(16, 8, "a") : makeTransfer(2, 4, "a");
        operation.withdrawAmount = uint256(keccak256(abi.encode(seed, "amount")));
        operation.recipient = address(uint160(uint256(keccak256(abi.encode(seed, "recipient")))));
        operation.deadline = uint256(keccak256(abi.encode(seed, "deadline")));
        operation.outRoot = uint256(keccak256(abi.encode(seed, "outRoot")));
        operation.noteRoot = uint256(keccak256(abi.encode(seed, "noteRoot")));
        operation.eligibilityRoot = uint256(keccak256(abi.encode(seed, "eligibilityRoot")));
        operation.maskedX = uint256(keccak256(abi.encode(seed, "maskedX")));
        operation.maskedY = uint256(keccak256(abi.encode(seed, "maskedY")));
        operation.maskedDigest = uint256(keccak256(abi.encode(seed, "maskedDigest")));
        operation.rSig = uint256(keccak256(abi.encode(seed, "rSig")));
        bytes memory sealedNotes = abi.encode(seed, "sealed notes");

        uint256 assetId = uint256(pool.assetIdOf(operation.token));
        uint256[] memory words = harness.encode(assetId, operation, keccak256(sealedNotes));
        uint256[] memory x = publicVector(operation, sealedNotes);
        assertEq(words.length, 1 + x.length, "length");
        assertEq(x.length, 17 + operation.nullifiers.length + operation.commitments.length, "k");
        assertEq(words[0], operation.D, "D");
        for (uint256 i = 0; i < x.length; i++) {
            assertEq(words[1 + i], x[i], string.concat("x ", vm.toString(i)));
        }
    }

    /// @dev Protocol §5, at the verifier: D and proof stay, one element changes. ShieldedPoolSpendChecks.t.sol has the same
    /// at the pool, where the elements of the authorisation cannot change one at a time.
    function test_everyElementIsBound() public view {
        _bindsEveryElement(makeSend(2, 4, "a"));
        _bindsEveryElement(makeSend(16, 8, "b"));
    }

    function _bindsEveryElement(SpendCall memory operation) private view {
        bytes memory sealedNotes = makeSealedNotes(operation.commitments.length);
        TrapdoorVerifier verifier = spendVerifierOf(operation);
        Groth16Proof memory proof = proveSpend(operation, sealedNotes);
        uint256[] memory x = publicVector(operation, sealedNotes);
        (uint256 z, uint256 y) = straightforward(operation.D, x);
        assertTrue(verifier.verify(proof, operation.D, z, y), "the unchanged vector is refused");
        for (uint256 i = 0; i < x.length; i++) {
            x[i] ^= 1;
            (z, y) = straightforward(operation.D, x);
            assertTrue(!verifier.verify(proof, operation.D, z, y), "a flipped element passes");
            x[i] ^= 1;
        }
    }
}
