// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @title What a funder signs, and whether a signature is the funder's.
library FunderSignature {
    bytes32 internal constant FUND_AUTHORIZATION_TYPEHASH = keccak256(
        "FundAuthorization(address funder,address token,uint256 total,bytes32 batchRoot,bytes32 batchNonce,bytes32 sealedNotesHash,uint256 deadline)"
    );
    bytes32 internal constant VOID_BATCH_TYPEHASH = keccak256("VoidBatch(address funder,bytes32 batchNonce)");

    /// @notice ECDSA first, then ERC-1271: an externally owned account may carry delegated code (EIP-7702)
    /// that knows nothing of ERC-1271, and its key must keep working.
    function isValid(address funder, bytes32 digest, bytes calldata signature) internal view returns (bool) {
        (address recovered, ECDSA.RecoverError failure,) = ECDSA.tryRecoverCalldata(digest, signature);
        if (failure == ECDSA.RecoverError.NoError && recovered == funder) return true;
        return funder.code.length != 0 && SignatureChecker.isValidERC1271SignatureNowCalldata(funder, digest, signature);
    }
}
