// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Groth16Proof, IGroth16Verifier} from "../interfaces/IGroth16Verifier.sol";
import {IShieldedPool} from "../interfaces/IShieldedPool.sol";
import {PublicInputs} from "./PublicInputs.sol";

/// @title Whether a proof holds for a public vector (protocol §5).
library ProofCheck {
    /// @notice Compresses D and x, and reverts unless the verifier answers that the proof holds for (D, z, y).
    /// @param words D, then x_0 ..
    function requireValid(IGroth16Verifier verifier, Groth16Proof calldata proof, uint256[] memory words)
        internal
        view
    {
        (uint256 z, uint256 y) = PublicInputs.compress(words);
        bytes4 selector = IGroth16Verifier.verify.selector;
        bool valid;
        // `verifier.verify(proof, words[0], z, y)`. The proof is eight words in a row, which the compiler would copy one at a
        // time. No answer, or another one than the word 1, counts as no. The scratch memory is behind the free pointer.
        assembly ("memory-safe") {
            let question := mload(0x40)
            mstore(question, selector)
            calldatacopy(add(question, 0x04), proof, 0x100)
            mstore(add(question, 0x104), mload(add(words, 0x20)))
            mstore(add(question, 0x124), z)
            mstore(add(question, 0x144), y)
            let answered := staticcall(gas(), verifier, question, 0x164, 0, 0x20)
            valid := and(answered, and(gt(returndatasize(), 0x1f), eq(mload(0), 1)))
        }
        if (!valid) revert IShieldedPool.InvalidProof();
    }
}
