// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Groth16Proof} from "./IGroth16Verifier.sol";

/// @notice One batch, as its funder authorised it and the prover proved it.
/// @param funder Pays the batch and signs its authorisation.
/// @param token An enabled ERC-20 token.
/// @param total Sum of the notes in base units, 1 to 2^128 - 1.
/// @param batchNonce Field element that its funder can use once, ever. With the funder it makes the batchId.
/// @param eligibilityRoot Root against which the recipients' eligibility was proved.
/// @param batchRoot Root of the binary Poseidon tree over the commitments.
/// @param commitments The notes, one per slot: 16, 64 or 256, empty slots filled with zero-value notes.
/// @param sealedNotesHash keccak256 of the sealed notes in slot order.
/// @param digest D of protocol §5.
/// @param deadline Last unix second at which the batch can land.
struct FundBatch {
    address funder;
    address token;
    uint256 total;
    bytes32 batchNonce;
    bytes32 eligibilityRoot;
    bytes32 batchRoot;
    bytes32[] commitments;
    bytes32 sealedNotesHash;
    bytes32 digest;
    uint256 deadline;
}

/// @notice An EIP-2612 permit from the funder to the pool. `value` 0 means: none.
struct Permit {
    uint256 value;
    uint256 deadline;
    uint8 v;
    bytes32 r;
    bytes32 s;
}

/// @title The shielded pool (protocol §8).
/// @dev Every field element (nonce, root, commitment, digest, asset id) crosses the ABI as bytes32,
/// big-endian, and must be below r; amounts and times are uint256.
interface IShieldedPool {
    /// @notice A batch settled.
    /// @param index Number of the batch, from 0, over all trees.
    /// @param batchRoot The leaf that was inserted.
    /// @param newRoot Root of the note tree after the insertion.
    /// @param batchId keccak256(abi.encode(funder, batchNonce)) mod r, which is now used.
    /// @param sealedNotesHash keccak256 of the sealed notes that the platform serves.
    /// @param commitments The notes in slot order.
    event BatchFunded(
        uint64 index,
        bytes32 indexed batchRoot,
        bytes32 newRoot,
        bytes32 indexed batchId,
        bytes32 sealedNotesHash,
        bytes32[] commitments
    );
    /// @notice A funder withdrew a batch for good: its authorisation can never land.
    event BatchVoided(address indexed funder, bytes32 indexed batchNonce);
    /// @notice Batches in this token may be funded.
    event TokenEnabled(address indexed token, bytes32 assetId);
    /// @notice No new batch in this token; what is in the pool stays withdrawable.
    event TokenDisabled(address indexed token);

    error TokenNotEnabled(address token);
    error NotAToken(address token);
    error ZeroAddress();
    /// @notice The constructor's: tokens cannot leave this pool yet (there is no `spend`), so it exists on the
    /// development chains 31337 and 1337 only.
    error ExitMissingOnPublicChain(uint256 chainId);
    error TotalOutOfRange(uint256 total);
    error UnsupportedBatchSize(uint256 size);
    error ZeroBatchRoot();
    error BatchNonceUsed(address funder, bytes32 batchNonce);
    error BatchIsVoided(address funder, bytes32 batchNonce);
    error AuthorizationExpired(uint256 deadline);
    error EligibilityRootNotAccepted(bytes32 eligibilityRoot);
    error InvalidFunderSignature();
    error InvalidProof();
    error WrongAmountReceived(uint256 expected, uint256 received);

    /// @notice Takes `total` tokens from the funder and inserts the batch. Relayer only, not while paused.
    /// @param batch The batch.
    /// @param proof Proof of the circuit for this batch size.
    /// @param funderSignature EIP-712 `FundAuthorization` by the funder: ECDSA, or ERC-1271.
    /// @param permit Optional allowance, spent by this very transaction. A failing permit is ignored:
    /// anybody can submit it first, and then the allowance is already there.
    function fund(
        FundBatch calldata batch,
        Groth16Proof calldata proof,
        bytes calldata funderSignature,
        Permit calldata permit
    ) external;

    /// @notice Makes sure that the funder's authorisation with this nonce never lands. Anyone may submit it;
    /// a repetition changes nothing. Reverts if this funder has used the nonce.
    /// @param signature EIP-712 `VoidBatch` by the funder: ECDSA, or ERC-1271.
    function voidBatch(address funder, bytes32 batchNonce, bytes calldata signature) external;

    /// @notice Lets batches in `token` be funded. Administrator only. The asset id is fixed the first time, for good.
    function enableToken(address token) external;

    /// @notice Stops new batches in `token`. Administrator only.
    function disableToken(address token) external;

    /// @notice Stops `fund`, and nothing else. Guardian only.
    function pauseFunding() external;

    /// @notice Lets `fund` go on. Administrator only.
    function resumeFunding() external;

    /// @notice keccak256(abi.encode(funder, batchNonce)) mod r: the name of a batch in the proof, in the set of used
    /// batches and in `BatchFunded`. Reverts for a nonce of r or more.
    function batchIdOf(address funder, bytes32 batchNonce) external pure returns (bytes32 batchId);

    /// @notice The batch root for which this funder used this nonce, or 0 while it is unused. What other funders do
    /// with the same nonce does not matter.
    function batchNonceUsed(address funder, bytes32 batchNonce) external view returns (bytes32 batchRoot);

    /// @notice Whether this funder voided this nonce.
    function isVoided(address funder, bytes32 batchNonce) external view returns (bool);

    /// @notice Whether `root` is, or ever was, the root of a note tree.
    function isKnownRoot(bytes32 root) external view returns (bool);

    /// @notice Root of the note tree that grew last; 0 before the first batch. Hashes on every call.
    function currentRoot() external view returns (bytes32);

    /// @notice Batches settled so far, over all trees.
    function batchCount() external view returns (uint64);

    /// @notice Asset id of a token, 0 if it was never enabled. It stays after the token is disabled.
    function assetIdOf(address token) external view returns (bytes32);

    /// @notice Whether batches in `token` may be funded.
    function isTokenEnabled(address token) external view returns (bool);
}
