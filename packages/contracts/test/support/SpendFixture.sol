// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Groth16Proof} from "../../solidity/interfaces/IGroth16Verifier.sol";
import {SpendCall} from "../../solidity/interfaces/IShieldedPool.sol";
import {HiddenSigner} from "./HiddenSigner.sol";
import {PoolFixture} from "./PoolFixture.sol";
import {TrapdoorVerifier} from "./TrapdoorVerifier.sol";

/// @dev A pool in which one batch is funded, and the means to make spends with valid signatures and proofs. The signatures
/// are real. The proofs come from the trapdoor, so they hold for whatever a test makes up.
abstract contract SpendFixture is PoolFixture, HiddenSigner {
    /// @dev The label of the batch that `setUp` funds: 16,000,000 units.
    string internal constant FIRST = "first";

    /// @dev A spend with everything it needs beside the call.
    struct Spend {
        SpendCall operation;
        Groth16Proof proof;
        bytes sealedNotes;
    }

    address internal immutable recipient = vm.addr(uint256(keccak256("recipient")));

    function setUp() public virtual override {
        super.setUp();
        fund(makeBatch(16, FIRST));
    }

    /// @dev A transfer: nothing leaves the pool.
    function makeTransfer(uint256 inputs, uint256 outputs, string memory label)
        internal
        view
        returns (SpendCall memory operation)
    {
        operation.token = address(token);
        operation.deadline = block.timestamp + 15 minutes;
        operation.nullifiers = _elements(inputs, string.concat(label, "/nullifier/"));
        operation.commitments = _elements(outputs, string.concat(label, "/output/"));
        operation.outRoot = uint256(fieldElement(string.concat(label, "/outRoot")));
        operation.noteRoot = uint256(pool.currentRoot());
        operation.eligibilityRoot = uint256(eligibilityRoot);
        operation.D = uint256(fieldElement(string.concat(label, "/D")));
        uint256 m = uint256(fieldElement(string.concat(label, "/m")));
        authorise(operation, HOLDER_KEY, m, uint256(keccak256(bytes(label))));
    }

    /// @dev A withdrawal to somebody outside the pool.
    function makeSend(uint256 inputs, uint256 outputs, string memory label)
        internal
        view
        returns (SpendCall memory operation)
    {
        operation = makeTransfer(inputs, outputs, label);
        (operation.withdrawAmount, operation.recipient, operation.eligibilityRoot) = (1_000_000, recipient, 0);
    }

    function _elements(uint256 count, string memory label) private pure returns (uint256[] memory elements) {
        elements = new uint256[](count);
        for (uint256 i = 0; i < count; i++) {
            elements[i] = uint256(fieldElement(string.concat(label, vm.toString(i))));
        }
    }

    /// @dev What nobody looks into: one byte pattern per output.
    function makeSealedNotes(uint256 outputs) internal pure returns (bytes memory sealedNotes) {
        for (uint256 i = 0; i < outputs; i++) {
            bytes memory note = new bytes(209);
            for (uint256 j = 0; j < 209; j++) {
                note[j] = bytes1(uint8(i * 31 + j));
            }
            sealedNotes = bytes.concat(sealedNotes, note);
        }
    }

    /// @dev x of protocol §6, by its own words.
    function publicVector(SpendCall memory operation, bytes memory sealedNotes)
        internal
        view
        returns (uint256[] memory)
    {
        bytes memory packed = abi.encodePacked(
            uint256(keccak256(abi.encode(block.chainid, address(pool), operation.token))) % R,
            operation.withdrawAmount,
            uint256(uint160(operation.recipient)),
            operation.deadline,
            halves(uint256(keccak256(sealedNotes))),
            operation.outRoot,
            operation.nullifiers,
            operation.commitments,
            operation.noteRoot,
            operation.eligibilityRoot
        );
        packed = abi.encodePacked(
            packed,
            halves(operation.maskedX),
            halves(operation.maskedY),
            halves(operation.maskedDigest),
            halves(operation.rSig)
        );
        // The same words as an array: behind the head that the ABI gives an array.
        return abi.decode(abi.encodePacked(uint256(32), packed.length / 32, packed), (uint256[]));
    }

    function halves(uint256 value) internal pure returns (uint256[2] memory) {
        return [value % 2 ** 128, value / 2 ** 128];
    }

    function spendVerifierOf(SpendCall memory operation) internal view returns (TrapdoorVerifier) {
        return operation.nullifiers.length == 16 ? verifier16x8 : verifier2x4;
    }

    function proveSpend(SpendCall memory operation, bytes memory sealedNotes)
        internal
        view
        returns (Groth16Proof memory)
    {
        (uint256 z, uint256 y) = straightforward(operation.D, publicVector(operation, sealedNotes));
        return spendVerifierOf(operation).prove(operation.D, z, y);
    }

    /// @dev The call with sealed notes and a proof that fit it.
    function complete(SpendCall memory operation) internal view returns (Spend memory made) {
        made.operation = operation;
        made.sealedNotes = makeSealedNotes(operation.commitments.length);
        made.proof = proveSpend(operation, made.sealedNotes);
    }

    /// @dev Anybody sends it.
    function submit(Spend memory made) internal {
        vm.prank(stranger);
        pool.spend(made.operation, made.proof, made.sealedNotes);
    }

    function spend(SpendCall memory operation) internal {
        submit(complete(operation));
    }

    /// @dev Expects the spend to be refused with this error.
    function expectSpendRefusal(Spend memory made, bytes memory revertData) internal {
        vm.prank(stranger);
        vm.expectRevert(revertData);
        pool.spend(made.operation, made.proof, made.sealedNotes);
    }

    /// @dev The same for a call with a proof that fits it.
    function expectSpendRefusal(SpendCall memory operation, bytes memory revertData) internal {
        expectSpendRefusal(complete(operation), revertData);
    }

    function asWords(uint256[] memory numbers) internal pure returns (bytes32[] memory words) {
        words = new bytes32[](numbers.length);
        for (uint256 i = 0; i < numbers.length; i++) {
            words[i] = bytes32(numbers[i]);
        }
    }
}
