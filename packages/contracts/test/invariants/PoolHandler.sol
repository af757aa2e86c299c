// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {EligibilityRegistry} from "../../solidity/EligibilityRegistry.sol";
import {ShieldedPool} from "../../solidity/ShieldedPool.sol";
import {Groth16Proof} from "../../solidity/interfaces/IGroth16Verifier.sol";
import {FundBatch} from "../../solidity/interfaces/IShieldedPool.sol";
import {PoolTestToken} from "../../solidity/sandbox/PoolTestToken.sol";
import {PoolFixture} from "../support/PoolFixture.sol";

/// @dev What the world may do to a pool, in any order: honest batches, replays, forgeries, withdrawals of
/// authorisations, donations, and every privileged call. The ghost variables remember what must hold.
contract PoolHandler is PoolFixture {
    uint256 public totalFunded;
    uint256 public totalDonated;
    uint256 public settled;
    uint256 public refusedForgeries;
    /// @dev Set when something happened that must never happen.
    string public violation;

    bytes32[] internal _roots;
    bytes32[] internal _nonces;
    mapping(bytes32 nonce => bytes32) internal _batchRootOf;
    FundBatch[] internal _landed;
    bytes32[] internal _voided;
    uint256 private _serial;

    constructor() {
        PoolFixture.setUp();
    }

    function setUp() public override {}

    // Honest life -------------------------------------------------------------------------------------

    function fundHonestly(bool large) external {
        FundBatch memory batch = makeBatch(large ? 64 : 16, string.concat("handler/", vm.toString(_serial++)));
        _submit(batch);
    }

    function _submit(FundBatch memory batch) private {
        (Groth16Proof memory proof, bytes memory signature) = (prove(batch), sign(batch));
        bool shouldLand = !pool.paused() && pool.isTokenEnabled(batch.token) && registry.accepted(batch.eligibilityRoot)
            && !pool.isVoided(batch.funder, batch.batchNonce);
        vm.prank(relayer);
        try pool.fund(batch, proof, signature, noPermit()) {
            if (!shouldLand) violation = "a batch landed that had to be refused";
            _remember(batch);
        } catch {
            if (shouldLand) violation = "an honest batch was refused";
        }
    }

    function _remember(FundBatch memory batch) private {
        if (_batchRootOf[batch.batchNonce] != 0) violation = "P2: a nonce was used twice";
        totalFunded += batch.total;
        settled++;
        _nonces.push(batch.batchNonce);
        _batchRootOf[batch.batchNonce] = batch.batchRoot;
        _roots.push(pool.currentRoot());
        _landed.push(batch);
    }

    function voidNext(uint256 ahead) external {
        FundBatch memory batch = makeBatch(16, string.concat("handler/", vm.toString(_serial + ahead % 3)));
        pool.voidBatch(funder, batch.batchNonce, signWith(FUNDER_KEY, voidDigest(funder, batch.batchNonce)));
        _voided.push(batch.batchNonce);
    }

    function donate(uint96 amount) external {
        token.mint(address(pool), amount);
        totalDonated += amount;
    }

    // Attacks -----------------------------------------------------------------------------------------

    function replay(uint256 which) external {
        if (_landed.length == 0) return;
        FundBatch memory batch = _landed[which % _landed.length];
        batch.deadline = block.timestamp + 1;
        _expectRefused(batch, prove(batch), sign(batch), relayer, "P2: a replay landed");
    }

    function voidLanded(uint256 which) external {
        if (_nonces.length == 0) return;
        bytes32 nonce = _nonces[which % _nonces.length];
        bytes memory signature = signWith(FUNDER_KEY, voidDigest(funder, nonce));
        try pool.voidBatch(funder, nonce, signature) {
            violation = "P2: a used nonce was voided";
        } catch {
            refusedForgeries++;
        }
    }

    /// @dev The relayer raises the total, or redirects the notes, under an honest authorisation.
    function tamper(uint256 how, uint256 salt) external {
        FundBatch memory batch = makeBatch(16, string.concat("tampered/", vm.toString(salt)));
        (Groth16Proof memory proof, bytes memory signature) = (prove(batch), sign(batch));
        how %= 4;
        if (how == 0) batch.total += 1 + salt % 1000;
        if (how == 1) batch.commitments[salt % 16] = fieldElement("the relayer's own note");
        if (how == 2) batch.sealedNotesHash = keccak256("other sealed notes");
        if (how == 3) batch.batchRoot = fieldElement("another root");
        _expectRefused(batch, proof, signature, relayer, "P5: a tampered batch landed");
    }

    /// @dev No role makes an authorisation unnecessary.
    function fundWithoutAuthorisation(uint256 who, uint256 salt) external {
        FundBatch memory batch = makeBatch(16, string.concat("unsigned/", vm.toString(salt)));
        bytes memory signature = signWith(uint256(keccak256("relayer")), authorizationDigest(batch));
        address[5] memory actors = [admin, guardian, relayer, gate, stranger];
        _expectRefused(batch, prove(batch), signature, actors[who % 5], "P5: money moved without its owner's word");
    }

    function _expectRefused(
        FundBatch memory batch,
        Groth16Proof memory proof,
        bytes memory signature,
        address sender,
        string memory otherwise
    ) private {
        vm.prank(sender);
        try pool.fund(batch, proof, signature, noPermit()) {
            violation = otherwise;
        } catch {
            refusedForgeries++;
        }
    }

    // Privileged calls --------------------------------------------------------------------------------

    function pauseOrResume() external {
        bool paused = pool.paused();
        vm.prank(paused ? admin : guardian);
        if (paused) pool.resumeFunding();
        else pool.pauseFunding();
    }

    function enableOrDisable() external {
        bool enabled = pool.isTokenEnabled(address(token));
        vm.prank(admin);
        if (enabled) pool.disableToken(address(token));
        else pool.enableToken(address(token));
    }

    function publishOrRevoke(uint256 choice) external {
        vm.startPrank(gate);
        if (choice % 4 == 0) registry.revoke();
        eligibilityRoot = fieldElement(string.concat("eligibility/", vm.toString(choice)));
        if (choice % 8 != 0) registry.publish(eligibilityRoot);
        vm.stopPrank();
    }

    function letTimePass(uint256 seconds_) external {
        vm.warp(block.timestamp + seconds_ % 2 hours);
    }

    // What the invariants read ------------------------------------------------------------------------

    function poolAndToken() external view returns (ShieldedPool, EligibilityRegistry, PoolTestToken, address) {
        return (pool, registry, token, funder);
    }

    function roots() external view returns (bytes32[] memory) {
        return _roots;
    }

    function nonces() external view returns (bytes32[] memory) {
        return _nonces;
    }

    function batchRootOf(bytes32 nonce) external view returns (bytes32) {
        return _batchRootOf[nonce];
    }

    function voided() external view returns (bytes32[] memory) {
        return _voided;
    }
}
