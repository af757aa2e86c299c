// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Groth16Proof, IGroth16Verifier} from "./IGroth16Verifier.sol";

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

/// @notice One spend: notes go in, notes and tokens come out. Its size follows from the lengths of the two arrays:
/// 2 nullifiers and 4 commitments (spend-2x4), or 16 and 8 (spend-16x8).
/// @param token The ERC-20 token of all notes. It was enabled once; whether it is enabled now does not matter.
/// @param withdrawAmount Base units that leave the pool, 0 to 2^128 - 1. 0 means a transfer between notes.
/// @param recipient Receives them. Zero if and only if `withdrawAmount` is 0; neither the pool nor the token.
/// @param deadline Last unix second at which the spend can land.
/// @param nullifiers One per input note, dummies included. Below r, unused, and all different.
/// @param commitments The output notes in slot order: the change first, then payees and dummies. Below r.
/// @param outRoot Root of the binary Poseidon tree over the commitments. Below r, not 0.
/// @param noteRoot A past or present root of the note tree, against which the inputs were proved.
/// @param eligibilityRoot Root against which the payees' eligibility was proved, or 0 if every output except the
/// change is worth nothing.
/// @param D Digest of protocol §5. Below r.
/// @param maskedX W'x: W' = W + b̂·G hides the holder's key W (protocol §7). Below secp256k1's p.
/// @param maskedY W'y. Below p.
/// @param slope Slope of the line through W' and G, mod p: a hint from which the contract computes W' + G.
/// @param maskedDigest m' = m - rSig·b̂ mod n: the digest that the signature signs under W'. Below n.
/// @param rSig The r of the ECDSA signature. Below n.
/// @param s The s of the signature, in its low or its high form.
/// @param parity Recovery bit of the signature, 0 or 1.
struct SpendCall {
    address token;
    uint256 withdrawAmount;
    address recipient;
    uint256 deadline;
    uint256[] nullifiers;
    uint256[] commitments;
    uint256 outRoot;
    uint256 noteRoot;
    uint256 eligibilityRoot;
    uint256 D;
    uint256 maskedX;
    uint256 maskedY;
    uint256 slope;
    uint256 maskedDigest;
    uint256 rSig;
    uint256 s;
    uint8 parity;
}

/// @title The shielded pool (protocol §8).
/// @dev Every field element (nonce, root, commitment, nullifier, digest, asset id) crosses the ABI as bytes32,
/// big-endian, and must be below r; amounts and times are uint256. A SpendCall has uint256 only: the contract computes
/// with its numbers.
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
    /// @notice A spend settled. Its outputs are a batch of the note tree. The token, the amount and the recipient of a
    /// withdrawal are in the token's own event.
    /// @param index Number of the batch, from 0, over all trees, counted together with those of `BatchFunded`.
    /// @param outRoot The leaf that was inserted.
    /// @param newRoot Root of the note tree after the insertion.
    /// @param nullifiers The inputs, which are now used. Some may be dummies.
    /// @param commitments The outputs in slot order.
    /// @param sealedNotesHash keccak256 of the sealed notes: the value that the proof binds.
    /// @param sealedNotes Of all outputs in slot order, 209 bytes each. Whoever sends the spend, and through whichever contract,
    /// the outputs' holders find their notes here.
    event Spent(
        uint64 index,
        bytes32 indexed outRoot,
        bytes32 newRoot,
        bytes32[] nullifiers,
        bytes32[] commitments,
        bytes32 sealedNotesHash,
        bytes sealedNotes
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
    /// @notice There is no contract at the address given for the registry or for a verifier.
    error NoCode(address account);
    /// @notice A pool needs one to four circuits of `fund` and as many of `spend`, each with at least one commitment.
    error InvalidVerifiers();
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
    /// @notice The token was never enabled, so the pool holds no note in it.
    error TokenNotKnown(address token);
    error UnsupportedSpendSize(uint256 inputs, uint256 outputs);
    error WithdrawAmountOutOfRange(uint256 amount);
    /// @notice Zero with an amount, not zero without one, the pool, or the token.
    error InvalidRecipient(address recipient);
    /// @notice The note is spent already, or another spend used its nullifier.
    error NullifierUsed(uint256 nullifier);
    /// @notice The call lists the nullifier twice.
    error NullifierRepeated(uint256 nullifier);
    /// @notice The root is not, and never was, a root of the note tree.
    error NoteRootNotKnown(uint256 noteRoot);
    error WrongSealedNotesLength(uint256 expected, uint256 actual);
    /// @notice A coordinate of W' is p or more.
    error MaskedKeyOutOfRange();
    /// @notice `slope` is not the slope of the line through W' and G, or the two have the same x.
    error WrongSlope();
    /// @notice `rSig` or `maskedDigest` is n or more, or `parity` is neither 0 nor 1.
    error SpendSignatureOutOfRange();
    /// @notice The signature is not one by W' over m', or not one by W' + G over m' - rSig.
    error InvalidSpendSignature();
    /// @notice The pool's balance fell by another amount than the one withdrawn.
    error WrongAmountSent(uint256 expected, uint256 sent);

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

    /// @notice Uses the inputs' nullifiers, inserts the outputs as one batch of the note tree, and pays `withdrawAmount`
    /// to the recipient. Anyone may call it; neither a pause nor a disabled token stops it. Every value of the call is
    /// bound by the proof or by the holder's signature, so the sender cannot change what the spend does.
    /// @param operation The spend.
    /// @param proof Proof of the circuit for this size.
    /// @param sealedNotes The sealed notes of all outputs in slot order, 209 bytes each. The proof binds their hash, so a
    /// sender cannot leave them out or change them, and `Spent` carries them.
    function spend(SpendCall calldata operation, Groth16Proof calldata proof, bytes calldata sealedNotes) external;

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

    /// @notice The verifier of the circuit with these lengths: nullifiers (0 for `fund`) and commitments. Reverts if there is
    /// none.
    function verifierFor(uint256 inputs, uint256 outputs) external view returns (IGroth16Verifier);

    /// @notice keccak256(abi.encode(funder, batchNonce)) mod r: the name of a batch in the proof, in the set of used
    /// batches and in `BatchFunded`. Reverts for a nonce of r or more.
    function batchIdOf(address funder, bytes32 batchNonce) external pure returns (bytes32 batchId);

    /// @notice The batch root for which this funder used this nonce, or 0 while it is unused. What other funders do
    /// with the same nonce does not matter.
    function batchNonceUsed(address funder, bytes32 batchNonce) external view returns (bytes32 batchRoot);

    /// @notice Whether this funder voided this nonce.
    function isVoided(address funder, bytes32 batchNonce) external view returns (bool);

    /// @notice The outRoot of the spend that used this nullifier, or 0 while it is unused. Reverts for a nullifier of r
    /// or more.
    function nullifierUsed(bytes32 nullifier) external view returns (bytes32 outRoot);

    /// @notice Whether `root` is, or ever was, the root of a note tree.
    function isKnownRoot(bytes32 root) external view returns (bool);

    /// @notice Root of the note tree that grew last; 0 before the first batch. Hashes on every call.
    function currentRoot() external view returns (bytes32);

    /// @notice Batches in the note tree so far, over all trees: those of `fund` and the outputs of each `spend`.
    function batchCount() external view returns (uint64);

    /// @notice Asset id of a token, 0 if it was never enabled. It stays after the token is disabled.
    function assetIdOf(address token) external view returns (bytes32);

    /// @notice Whether batches in `token` may be funded.
    function isTokenEnabled(address token) external view returns (bool);
}
