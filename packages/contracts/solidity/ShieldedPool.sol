// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {IEligibilityRegistry} from "./interfaces/IEligibilityRegistry.sol";
import {CircuitVerifier, Groth16Proof, IGroth16Verifier} from "./interfaces/IGroth16Verifier.sol";
import {FundBatch, IShieldedPool, Permit, SpendCall} from "./interfaces/IShieldedPool.sol";
import {FundStatement} from "./lib/FundStatement.sol";
import {FunderSignature} from "./lib/FunderSignature.sol";
import {NoteTree} from "./lib/NoteTree.sol";
import {ProofCheck} from "./lib/ProofCheck.sol";
import {PublicInputs} from "./lib/PublicInputs.sol";
import {SpendAuthorization} from "./lib/SpendAuthorization.sol";
import {SpendStatement} from "./lib/SpendStatement.sol";

/// @title The shielded pool: tokens go in and out against note commitments (protocol §8).
/// @notice Invariants, each with a test of the same number:
/// P1. The pool's balance of a token is at least what was funded in it minus what was withdrawn (anyone may donate).
/// P2. A batchId is used at most once, over all funders and tokens, and never after it was voided.
/// P3. Roots only grow: a root once known stays known, and 0 never is.
/// P4. Pausing and disabling stop `fund` only, never `spend`; they change no balance, root, nonce or nullifier.
/// P5. No role moves tokens: a token leaves a funder's account only under the funder's signature, and the pool only by
///     `spend`, under the signature of the holder whose notes it uses.
/// P6. Every field element the proof speaks about is canonical, and the contract derives the asset id, the halves,
///     z and y itself.
/// P7. A nullifier is used at most once, over all tokens and sizes.
contract ShieldedPool is IShieldedPool, AccessControl, EIP712, ReentrancyGuardTransient, Pausable {
    using SafeERC20 for IERC20;
    using NoteTree for NoteTree.State;

    bytes32 public constant RELAYER_ROLE = keccak256("RELAYER_ROLE");
    bytes32 public constant GUARDIAN_ROLE = keccak256("GUARDIAN_ROLE");

    /// @dev Amounts are range-checked to 128 bits in every circuit; totals must fit too.
    uint256 private constant MAX_TOTAL = type(uint128).max;
    /// @dev Flag beside a cached asset id, which needs 254 bits: one storage read answers both questions.
    uint256 private constant ENABLED = 1 << 255;
    /// @dev Stored in place of a batch root for a voided batchId. No batch root equals it, since roots are below r.
    /// One storage read answers both "used?" and "voided?".
    bytes32 private constant VOIDED = bytes32(type(uint256).max);
    /// @dev Protocol §3.
    uint256 private constant SEALED_NOTE_BYTES = 209;

    IEligibilityRegistry public immutable eligibilityRegistry;

    /// @dev The list of verifiers that the pool was made with, in the contract's code: a place read from storage would cost
    /// every batch 2,100 gas. A place holds the lengths of a circuit's arrays and its verifier; a free place holds FREE.
    uint256 private constant FREE = type(uint256).max;
    uint256 private constant PLACES = 4;
    uint256 private immutable _fundKey0;
    uint256 private immutable _fundKey1;
    uint256 private immutable _fundKey2;
    uint256 private immutable _fundKey3;
    IGroth16Verifier private immutable _fundVerifier0;
    IGroth16Verifier private immutable _fundVerifier1;
    IGroth16Verifier private immutable _fundVerifier2;
    IGroth16Verifier private immutable _fundVerifier3;
    uint256 private immutable _spendKey0;
    uint256 private immutable _spendKey1;
    uint256 private immutable _spendKey2;
    uint256 private immutable _spendKey3;
    IGroth16Verifier private immutable _spendVerifier0;
    IGroth16Verifier private immutable _spendVerifier1;
    IGroth16Verifier private immutable _spendVerifier2;
    IGroth16Verifier private immutable _spendVerifier3;

    /// @dev Batches over all trees. First, so that it shares a storage slot with Pausable's flag.
    uint64 private _batchCount;
    NoteTree.State private _tree;
    /// @dev Asset id, with ENABLED while batches may be funded; 0 for a token that never was enabled.
    mapping(address token => uint256) private _assets;
    /// @dev The batch root that a batchId was used for, VOIDED, or 0. One set for all funders and tokens: note
    /// nonces derive from the batchId, which binds the funder.
    mapping(bytes32 batchId => bytes32) private _batchRoots;
    /// @dev The outRoot that a nullifier was used for, or 0. One set for all tokens: a nullifier contains the asset id.
    mapping(uint256 nullifier => uint256) private _outRoots;

    /// @param admin Grants and takes roles, enables tokens, resumes funding.
    /// @param guardian May pause funding.
    /// @param relayer May submit batches.
    /// @param registry Decides which eligibility roots are accepted. A contract.
    /// @param verifiers One for each circuit, at most 4 of `fund` and 4 of `spend`, in the order in which a call looks for its
    /// own. Contracts.
    constructor(
        address admin,
        address guardian,
        address relayer,
        IEligibilityRegistry registry,
        CircuitVerifier[] memory verifiers
    ) EIP712("ShieldedPool", "1") {
        if (admin == address(0) || guardian == address(0) || relayer == address(0)) {
            revert ZeroAddress();
        }
        // Nothing replaces them later, and without a spend verifier nothing that came in could leave.
        _requireCode(address(registry));
        eligibilityRegistry = registry;
        (uint256[PLACES] memory keys, IGroth16Verifier[PLACES] memory found) = _select(verifiers, true);
        (_fundKey0, _fundKey1, _fundKey2, _fundKey3) = (keys[0], keys[1], keys[2], keys[3]);
        (_fundVerifier0, _fundVerifier1, _fundVerifier2, _fundVerifier3) = (found[0], found[1], found[2], found[3]);
        (keys, found) = _select(verifiers, false);
        (_spendKey0, _spendKey1, _spendKey2, _spendKey3) = (keys[0], keys[1], keys[2], keys[3]);
        (_spendVerifier0, _spendVerifier1, _spendVerifier2, _spendVerifier3) = (found[0], found[1], found[2], found[3]);
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
        _grantRole(GUARDIAN_ROLE, guardian);
        _grantRole(RELAYER_ROLE, relayer);
    }

    /// @inheritdoc IShieldedPool
    function fund(
        FundBatch calldata batch,
        Groth16Proof calldata proof,
        bytes calldata funderSignature,
        Permit calldata permit
    ) external nonReentrant whenNotPaused onlyRole(RELAYER_ROLE) {
        // Checks
        bytes32 batchId = _batchIdOf(batch.funder, batch.batchNonce);
        uint256 assetId = _requireOpen(batch, batchId);
        _requireAuthorised(batch, funderSignature);
        _requireProven(assetId, batchId, batch, proof);

        // Effects
        _insert(batch, batchId);

        // Interactions
        _applyPermit(batch, permit);
        _collect(IERC20(batch.token), batch.funder, batch.total);
    }

    /// @inheritdoc IShieldedPool
    function spend(SpendCall calldata operation, Groth16Proof calldata proof, bytes calldata sealedNotes)
        external
        nonReentrant
    {
        // Checks. The nullifiers are marked among them, because one pass over them is cheaper than two: a later check that fails
        // takes the marks back, and the calls in between are static.
        uint256 assetId = _requireSpendable(operation);
        _useNullifiers(operation.nullifiers, operation.outRoot);
        _requireRoots(operation);
        bytes32 sealedNotesHash = _hashSealedNotes(sealedNotes, operation.commitments.length);
        SpendAuthorization.requireValid(operation);
        _requireSpendProven(assetId, operation, sealedNotesHash, proof);

        // Effects
        _insertOutputs(operation, sealedNotesHash, sealedNotes);

        // Interactions
        if (operation.withdrawAmount != 0) {
            _pay(IERC20(operation.token), operation.recipient, operation.withdrawAmount);
        }
    }

    /// @inheritdoc IShieldedPool
    function voidBatch(address funder, bytes32 batchNonce, bytes calldata signature) external {
        bytes32 batchId = _batchIdOf(funder, batchNonce);
        bytes32 state = _batchRoots[batchId];
        if (state != 0 && state != VOIDED) revert BatchNonceUsed(funder, batchNonce);
        bytes32 digest =
            _hashTypedDataV4(keccak256(abi.encode(FunderSignature.VOID_BATCH_TYPEHASH, funder, batchNonce)));
        if (!FunderSignature.isValid(funder, digest, signature)) revert InvalidFunderSignature();

        _batchRoots[batchId] = VOIDED;
        emit BatchVoided(funder, batchNonce);
    }

    /// @inheritdoc IShieldedPool
    function enableToken(address token) external onlyRole(DEFAULT_ADMIN_ROLE) {
        if (token.code.length == 0) revert NotAToken(token);
        uint256 assetId = _assets[token] & ~ENABLED;
        // Computed once. Notes carry it: a fork that keeps the state and changes the chain id must not orphan them.
        if (assetId == 0) {
            assetId = uint256(keccak256(abi.encode(block.chainid, address(this), token))) % PublicInputs.R;
        }
        _assets[token] = assetId | ENABLED;
        emit TokenEnabled(token, bytes32(assetId));
    }

    /// @inheritdoc IShieldedPool
    function disableToken(address token) external onlyRole(DEFAULT_ADMIN_ROLE) {
        if (_assets[token] & ENABLED == 0) revert TokenNotEnabled(token);
        _assets[token] ^= ENABLED;
        emit TokenDisabled(token);
    }

    /// @inheritdoc IShieldedPool
    function pauseFunding() external onlyRole(GUARDIAN_ROLE) {
        _pause();
    }

    /// @inheritdoc IShieldedPool
    function resumeFunding() external onlyRole(DEFAULT_ADMIN_ROLE) {
        _unpause();
    }

    /// @inheritdoc IShieldedPool
    function verifierFor(uint256 inputs, uint256 outputs) external view returns (IGroth16Verifier) {
        return inputs == 0 ? _verifierFor(outputs) : _spendVerifierFor(inputs, outputs);
    }

    /// @inheritdoc IShieldedPool
    function batchIdOf(address funder, bytes32 batchNonce) external pure returns (bytes32) {
        return _batchIdOf(funder, batchNonce);
    }

    /// @inheritdoc IShieldedPool
    function batchNonceUsed(address funder, bytes32 batchNonce) external view returns (bytes32 batchRoot) {
        bytes32 state = _batchRoots[_batchIdOf(funder, batchNonce)];
        return state == VOIDED ? bytes32(0) : state;
    }

    /// @inheritdoc IShieldedPool
    function isVoided(address funder, bytes32 batchNonce) external view returns (bool) {
        return _batchRoots[_batchIdOf(funder, batchNonce)] == VOIDED;
    }

    /// @inheritdoc IShieldedPool
    function nullifierUsed(bytes32 nullifier) external view returns (bytes32 outRoot) {
        if (uint256(nullifier) >= PublicInputs.R) revert PublicInputs.FieldElementOutOfRange();
        return bytes32(_outRoots[uint256(nullifier)]);
    }

    /// @inheritdoc IShieldedPool
    function isKnownRoot(bytes32 root) external view returns (bool) {
        return _tree.madeBy[uint256(root)] != 0;
    }

    /// @inheritdoc IShieldedPool
    function currentRoot() external view returns (bytes32) {
        return bytes32(_tree.computeRoot(_batchCount));
    }

    /// @inheritdoc IShieldedPool
    function batchCount() external view returns (uint64) {
        return _batchCount;
    }

    /// @inheritdoc IShieldedPool
    function assetIdOf(address token) external view returns (bytes32) {
        return bytes32(_assets[token] & ~ENABLED);
    }

    /// @inheritdoc IShieldedPool
    function isTokenEnabled(address token) external view returns (bool) {
        return _assets[token] & ENABLED != 0;
    }

    function _requireCode(address account) private view {
        if (account.code.length == 0) revert NoCode(account);
    }

    /// @dev The only place that turns a nonce into a batchId. The funder is inside: a nonce that somebody else uses
    /// under an address of its own makes another batch, and burns nothing. A nonce of r or more is refused, as
    /// every field element is.
    function _batchIdOf(address funder, bytes32 batchNonce) private pure returns (bytes32) {
        if (uint256(batchNonce) >= PublicInputs.R) revert PublicInputs.FieldElementOutOfRange();
        return bytes32(uint256(keccak256(abi.encode(funder, batchNonce))) % PublicInputs.R);
    }

    /// @dev Everything that plain state decides.
    function _requireOpen(FundBatch calldata batch, bytes32 batchId) private view returns (uint256 assetId) {
        uint256 asset = _assets[batch.token];
        if (asset & ENABLED == 0) revert TokenNotEnabled(batch.token);
        if (batch.total == 0 || batch.total > MAX_TOTAL) revert TotalOutOfRange(batch.total);
        // Zero marks an unused batchId.
        if (batch.batchRoot == 0) revert ZeroBatchRoot();
        bytes32 state = _batchRoots[batchId];
        if (state == VOIDED) revert BatchIsVoided(batch.funder, batch.batchNonce);
        if (state != 0) revert BatchNonceUsed(batch.funder, batch.batchNonce);
        if (block.timestamp > batch.deadline) revert AuthorizationExpired(batch.deadline);
        // A zero root would switch eligibility off in the circuit; the registry never accepts it.
        if (!eligibilityRegistry.accepted(batch.eligibilityRoot)) {
            revert EligibilityRootNotAccepted(batch.eligibilityRoot);
        }
        return asset ^ ENABLED;
    }

    function _requireAuthorised(FundBatch calldata batch, bytes calldata signature) private view {
        bytes32 digest = _hashTypedDataV4(
            keccak256(
                abi.encode(
                    FunderSignature.FUND_AUTHORIZATION_TYPEHASH,
                    batch.funder,
                    batch.token,
                    batch.total,
                    batch.batchRoot,
                    batch.batchNonce,
                    batch.sealedNotesHash,
                    batch.deadline
                )
            )
        );
        if (!FunderSignature.isValid(batch.funder, digest, signature)) revert InvalidFunderSignature();
    }

    function _requireProven(uint256 assetId, bytes32 batchId, FundBatch calldata batch, Groth16Proof calldata proof)
        private
        view
    {
        IGroth16Verifier verifier = _verifierFor(batch.commitments.length);
        ProofCheck.requireValid(verifier, proof, FundStatement.encode(assetId, batchId, batch));
    }

    function _insert(FundBatch calldata batch, bytes32 batchId) private {
        _batchRoots[batchId] = batch.batchRoot;
        (uint64 index, uint256 newRoot) = _append(uint256(batch.batchRoot));
        emit BatchFunded(index, batch.batchRoot, bytes32(newRoot), batchId, batch.sealedNotesHash, batch.commitments);
    }

    function _append(uint256 batchRoot) private returns (uint64 index, uint256 newRoot) {
        index = _batchCount;
        _batchCount = index + 1;
        newRoot = _tree.append(index, batchRoot);
    }

    /// @dev One circuit per array length; the proof of one size says nothing about another.
    function _verifierFor(uint256 size) private view returns (IGroth16Verifier) {
        if (size == _fundKey0) return _fundVerifier0;
        if (size == _fundKey1) return _fundVerifier1;
        if (size == _fundKey2) return _fundVerifier2;
        if (size == _fundKey3) return _fundVerifier3;
        revert UnsupportedBatchSize(size);
    }

    /// @dev The entries for `fund` or those for `spend`, in order. A circuit of either kind must exist: without one for
    /// `spend`, nothing that came in could leave.
    function _select(CircuitVerifier[] memory verifiers, bool ofFund)
        private
        view
        returns (uint256[PLACES] memory keys, IGroth16Verifier[PLACES] memory found)
    {
        uint256 count = 0;
        for (uint256 i = 0; i < verifiers.length; i++) {
            CircuitVerifier memory entry = verifiers[i];
            if ((entry.inputs == 0) != ofFund) continue;
            if (count == PLACES || entry.outputs == 0) revert InvalidVerifiers();
            _requireCode(address(entry.verifier));
            keys[count] = ofFund ? entry.outputs : _shape(entry.inputs, entry.outputs);
            found[count++] = entry.verifier;
        }
        if (count == 0) revert InvalidVerifiers();
        while (count < PLACES) keys[count++] = FREE;
    }

    /// @dev Lengths of arrays in memory or calldata are below 2^64.
    function _shape(uint256 inputs, uint256 outputs) private pure returns (uint256) {
        return (inputs << 128) | outputs;
    }

    /// @dev A permit that fails is ignored: it may have been submitted by somebody else already, and if
    /// the allowance is missing the transfer says so.
    function _applyPermit(FundBatch calldata batch, Permit calldata permit) private {
        if (permit.value == 0) return;
        (uint8 v, bytes32 r, bytes32 s) = (permit.v, permit.r, permit.s);
        try IERC20Permit(batch.token).permit(batch.funder, address(this), permit.value, permit.deadline, v, r, s) {}
            catch {
            // The transfer decides.
        }
    }

    /// @dev A token that takes a fee, or reports success without moving anything, would leave notes
    /// without tokens behind them.
    function _collect(IERC20 token, address funder, uint256 total) private {
        uint256 before = token.balanceOf(address(this));
        token.safeTransferFrom(funder, address(this), total);
        uint256 received = token.balanceOf(address(this)) - before;
        if (received != total) revert WrongAmountReceived(total, received);
    }

    /// @dev What plain state decides about a spend, apart from its nullifiers and roots. It reads neither the pause nor whether the token is
    /// enabled: what came in must be able to leave. That all elements are below r is checked with the proof.
    function _requireSpendable(SpendCall calldata operation) private view returns (uint256 assetId) {
        if (block.timestamp > operation.deadline) revert AuthorizationExpired(operation.deadline);
        assetId = _assets[operation.token] & ~ENABLED;
        if (assetId == 0) revert TokenNotKnown(operation.token);
        _requireRecipient(operation);
        // Zero marks an unused nullifier.
        if (operation.outRoot == 0) revert ZeroBatchRoot();
    }

    function _requireRoots(SpendCall calldata operation) private view {
        if (_tree.madeBy[operation.noteRoot] == 0) revert NoteRootNotKnown(operation.noteRoot);
        // Zero switches eligibility off in the circuit, which then pays nobody but the holder. Decided here, before the
        // registry is asked: nothing that the gate does may stop a withdrawal.
        bytes32 eligibilityRoot = bytes32(operation.eligibilityRoot);
        if (eligibilityRoot != 0 && !eligibilityRegistry.accepted(eligibilityRoot)) {
            revert EligibilityRootNotAccepted(eligibilityRoot);
        }
    }

    /// @dev Tokens sent to the pool itself would belong to no note, and tokens sent to the token to nobody.
    function _requireRecipient(SpendCall calldata operation) private view {
        (uint256 amount, address recipient) = (operation.withdrawAmount, operation.recipient);
        if (amount > MAX_TOTAL) revert WithdrawAmountOutOfRange(amount);
        bool isMissing = (recipient == address(0)) != (amount == 0);
        if (isMissing || recipient == address(this) || recipient == operation.token) {
            revert InvalidRecipient(recipient);
        }
    }

    /// @dev The bytes are hashed and not looked into. What they contain is up to the spender, who binds their hash in the
    /// proof.
    function _hashSealedNotes(bytes calldata sealedNotes, uint256 outputs) private pure returns (bytes32) {
        uint256 expected = outputs * SEALED_NOTE_BYTES;
        if (sealedNotes.length != expected) revert WrongSealedNotesLength(expected, sealedNotes.length);
        return keccak256(sealedNotes);
    }

    function _requireSpendProven(
        uint256 assetId,
        SpendCall calldata operation,
        bytes32 sealedNotesHash,
        Groth16Proof calldata proof
    ) private view {
        IGroth16Verifier verifier = _spendVerifierFor(operation.nullifiers.length, operation.commitments.length);
        ProofCheck.requireValid(verifier, proof, SpendStatement.encode(assetId, operation, sealedNotesHash));
    }

    /// @dev One circuit per pair of lengths.
    function _spendVerifierFor(uint256 inputs, uint256 outputs) private view returns (IGroth16Verifier) {
        uint256 shape = _shape(inputs, outputs);
        if (shape == _spendKey0) return _spendVerifier0;
        if (shape == _spendKey1) return _spendVerifier1;
        if (shape == _spendKey2) return _spendVerifier2;
        if (shape == _spendKey3) return _spendVerifier3;
        revert UnsupportedSpendSize(inputs, outputs);
    }

    /// @dev The only place that writes a nullifier.
    /// @param outRoot Not zero, which marks an unused nullifier.
    function _useNullifiers(uint256[] calldata nullifiers, uint256 outRoot) private {
        for (uint256 i = 0; i < nullifiers.length; i++) {
            uint256 nullifier = nullifiers[i];
            if (_outRoots[nullifier] != 0) _refuseNullifier(nullifiers, i);
            _outRoots[nullifier] = outRoot;
        }
    }

    /// @dev Says whether an earlier spend or an earlier place of this call used the nullifier.
    function _refuseNullifier(uint256[] calldata nullifiers, uint256 place) private pure {
        uint256 nullifier = nullifiers[place];
        for (uint256 i = 0; i < place; i++) {
            if (nullifiers[i] == nullifier) revert NullifierRepeated(nullifier);
        }
        revert NullifierUsed(nullifier);
    }

    /// @dev The event carries the sealed notes: calldata may hide them, inside the call of another contract, and then the
    /// holder would have to search for its change.
    function _insertOutputs(SpendCall calldata operation, bytes32 sealedNotesHash, bytes calldata sealedNotes) private {
        uint256 outRoot = operation.outRoot;
        (uint64 index, uint256 newRoot) = _append(outRoot);
        emit Spent(
            index,
            bytes32(outRoot),
            bytes32(newRoot),
            _asWords(operation.nullifiers),
            _asWords(operation.commitments),
            sealedNotesHash,
            sealedNotes
        );
    }

    /// @dev The same words under the type that field elements have in events.
    function _asWords(uint256[] calldata numbers) private pure returns (bytes32[] calldata words) {
        assembly ("memory-safe") {
            words.offset := numbers.offset
            words.length := numbers.length
        }
    }

    /// @dev Only the pool's own balance counts. A check of the recipient's would let the issuer of a token freeze every
    /// exit, by switching a fee on.
    function _pay(IERC20 token, address recipient, uint256 amount) private {
        uint256 before = token.balanceOf(address(this));
        token.safeTransfer(recipient, amount);
        uint256 left = token.balanceOf(address(this));
        uint256 sent = left > before ? 0 : before - left;
        if (sent != amount) revert WrongAmountSent(amount, sent);
    }
}
