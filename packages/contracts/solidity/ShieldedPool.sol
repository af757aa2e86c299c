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
import {Groth16Proof, IGroth16Verifier} from "./interfaces/IGroth16Verifier.sol";
import {FundBatch, IShieldedPool, Permit} from "./interfaces/IShieldedPool.sol";
import {FunderSignature} from "./lib/FunderSignature.sol";
import {NoteTree} from "./lib/NoteTree.sol";
import {PublicInputs} from "./lib/PublicInputs.sol";

/// @title The shielded pool: tokens go in against note commitments (protocol §8).
/// @notice Invariants, each with a test of the same number:
/// P1. The pool's balance of a token is at least the sum of what was funded in it (anyone may donate).
/// P2. A batchId is used at most once, over all funders and tokens, and never after it was voided.
/// P3. Roots only grow: a root once known stays known, and 0 never is.
/// P4. Pausing and disabling stop `fund` only; they change no balance, root or nonce.
/// P5. No role moves tokens: a token leaves no account without that account's signed authorisation,
///     and no function sends tokens out.
/// P6. Every field element the proof speaks about is canonical, and the contract derives the asset id,
///     z and y itself.
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
    /// @dev Elements of the fund circuits' public vector before the commitments.
    uint256 private constant FUND_HEAD = 5;

    IEligibilityRegistry public immutable eligibilityRegistry;
    IGroth16Verifier public immutable fund16Verifier;
    IGroth16Verifier public immutable fund64Verifier;
    IGroth16Verifier public immutable fund256Verifier;

    /// @dev Batches over all trees. First, so that it shares a storage slot with Pausable's flag.
    uint64 private _batchCount;
    NoteTree.State private _tree;
    /// @dev Asset id, with ENABLED while batches may be funded; 0 for a token that never was enabled.
    mapping(address token => uint256) private _assets;
    /// @dev The batch root that a batchId was used for, VOIDED, or 0. One set for all funders and tokens: note
    /// nonces derive from the batchId, which binds the funder.
    mapping(bytes32 batchId => bytes32) private _batchRoots;

    /// @param admin Grants and takes roles, enables tokens, resumes funding.
    /// @param guardian May pause funding.
    /// @param relayer May submit batches.
    /// @param registry Decides which eligibility roots are accepted.
    /// @param verifier16 Verifier of the circuit fund-16.
    /// @param verifier64 Verifier of the circuit fund-64.
    /// @param verifier256 Verifier of the circuit fund-256.
    constructor(
        address admin,
        address guardian,
        address relayer,
        IEligibilityRegistry registry,
        IGroth16Verifier verifier16,
        IGroth16Verifier verifier64,
        IGroth16Verifier verifier256
    ) EIP712("ShieldedPool", "1") {
        // What cannot leave must not enter: without `spend` no real token may come in. Goes when `spend` comes.
        if (block.chainid != 31337 && block.chainid != 1337) revert ExitMissingOnPublicChain(block.chainid);
        if (admin == address(0) || guardian == address(0) || relayer == address(0)) {
            revert ZeroAddress();
        }
        if (address(registry) == address(0)) revert ZeroAddress();
        if (address(verifier16) == address(0) || address(verifier64) == address(0)) revert ZeroAddress();
        if (address(verifier256) == address(0)) revert ZeroAddress();
        eligibilityRegistry = registry;
        fund16Verifier = verifier16;
        fund64Verifier = verifier64;
        fund256Verifier = verifier256;
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
        (uint256 z, uint256 y) = PublicInputs.compress(_fundStatement(assetId, batchId, batch));
        if (!verifier.verify(proof, uint256(batch.digest), z, y)) revert InvalidProof();
    }

    function _insert(FundBatch calldata batch, bytes32 batchId) private {
        _batchRoots[batchId] = batch.batchRoot;
        uint64 index = _batchCount;
        _batchCount = index + 1;
        uint256 newRoot = _tree.append(index, uint256(batch.batchRoot));
        emit BatchFunded(index, batch.batchRoot, bytes32(newRoot), batchId, batch.sealedNotesHash, batch.commitments);
    }

    /// @dev One circuit per array length; the proof of one size says nothing about another.
    function _verifierFor(uint256 size) private view returns (IGroth16Verifier) {
        if (size == 16) return fund16Verifier;
        if (size == 64) return fund64Verifier;
        if (size == 256) return fund256Verifier;
        revert UnsupportedBatchSize(size);
    }

    /// @dev D and the public vector of fund-N, its order frozen in protocol §6:
    /// assetId, total, batchId, eligibilityRoot, batchRoot, c_0 ...
    function _fundStatement(uint256 assetId, bytes32 batchId, FundBatch calldata batch)
        private
        pure
        returns (uint256[] memory words)
    {
        bytes32[] calldata commitments = batch.commitments;
        words = new uint256[](1 + FUND_HEAD + commitments.length);
        words[0] = uint256(batch.digest);
        words[1] = assetId;
        words[2] = batch.total;
        words[3] = uint256(batchId);
        words[4] = uint256(batch.eligibilityRoot);
        words[5] = uint256(batch.batchRoot);
        // Copies exactly the commitments behind the head, inside the array allocated above.
        assembly ("memory-safe") {
            let tail := add(words, mul(add(FUND_HEAD, 2), 0x20))
            calldatacopy(tail, commitments.offset, mul(commitments.length, 0x20))
        }
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
}
