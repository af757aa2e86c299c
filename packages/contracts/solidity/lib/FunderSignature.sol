// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title What a funder signs, and whether a signature is the funder's.
library FunderSignature {
    bytes32 internal constant FUND_AUTHORIZATION_TYPEHASH = keccak256(
        "FundAuthorization(address funder,address token,uint256 total,bytes32 batchRoot,bytes32 batchNonce,bytes32 sealedNotesHash,uint256 deadline)"
    );
    bytes32 internal constant VOID_BATCH_TYPEHASH = keccak256("VoidBatch(address funder,bytes32 batchNonce)");

    /// @notice What a wallet's answer may cost: the sender pays for it, and the wallet is somebody else's code. Thirty
    /// owners take 139,000, and three passkeys verified in Solidity 716,000 (FunderSignatureGas.t.sol).
    uint256 internal constant ERC1271_GAS = 1_000_000;
    /// @dev Covers what lies between the measurement of the gas and the wallet: about 200, and never 2,000.
    uint256 private constant CALL_GAS = 2_000;
    /// @dev `isValidSignature(bytes32,bytes)`, which is the word of consent too.
    bytes4 private constant ERC1271_SELECTOR = 0x1626ba7e;

    /// @notice The transaction has too little gas left to give the wallet all that it may use. Send it with more.
    error SignatureGasMissing();

    /// @notice ECDSA first, then ERC-1271: an externally owned account may carry delegated code (EIP-7702)
    /// that knows nothing of ERC-1271, and its key must keep working.
    function isValid(address funder, bytes32 digest, bytes calldata signature) internal view returns (bool) {
        (address recovered, ECDSA.RecoverError failure,) = ECDSA.tryRecoverCalldata(digest, signature);
        if (failure == ECDSA.RecoverError.NoError && recovered == funder) return true;
        return funder.code.length != 0 && _isConsent(funder, digest, signature);
    }

    /// @dev The wallet gets exactly ERC1271_GAS. Without the check a call that lacks gas would silently get 63/64 of
    /// what is left (EIP-150), and the sender could choose what the wallet sees. One word of the answer is read, and
    /// none of the rest is copied.
    function _isConsent(address wallet, bytes32 digest, bytes calldata signature) private view returns (bool consent) {
        bytes memory question = abi.encodeWithSelector(ERC1271_SELECTOR, digest, signature);
        if (gasleft() < (ERC1271_GAS * 64) / 63 + CALL_GAS) revert SignatureGasMissing();
        assembly ("memory-safe") {
            let answered := staticcall(ERC1271_GAS, wallet, add(question, 0x20), mload(question), 0, 0x20)
            consent := and(answered, and(gt(returndatasize(), 0x1f), eq(mload(0), ERC1271_SELECTOR)))
        }
    }
}
