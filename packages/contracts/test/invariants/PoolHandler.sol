// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {EligibilityRegistry} from "../../solidity/EligibilityRegistry.sol";
import {ShieldedPool} from "../../solidity/ShieldedPool.sol";
import {Groth16Proof} from "../../solidity/interfaces/IGroth16Verifier.sol";
import {FundBatch} from "../../solidity/interfaces/IShieldedPool.sol";
import {PoolTestToken} from "../../solidity/sandbox/PoolTestToken.sol";
import {PoolFixture} from "../support/PoolFixture.sol";
import {SpendFixture} from "../support/SpendFixture.sol";

/// @dev What the world may do to a pool, in any order: honest batches, replays, forgeries, withdrawals of
/// authorisations, donations, and every privileged call. The ghost variables remember what must hold.
abstract contract PoolHandler is SpendFixture {
    uint256 public totalFunded;
    uint256 public totalDonated;
    /// @dev What another funder paid.
    uint256 public totalForeign;
    uint256 public settled;
    uint256 public refusedForgeries;
    /// @dev Set when something happened that must never happen.
    string public violation;

    bytes32[] internal _roots;
    mapping(bytes32 batchId => bytes32) internal _batchRootOf;
    FundBatch[] internal _landed;
    bytes32[] internal _voided;
    uint256 private _serial;
    uint256 private _foreignSerial;
    uint256 private constant FOREIGN_KEY = uint256(keccak256("a funder of the relayer's own"));

    constructor() {
        PoolFixture.setUp();
    }

    function setUp() public override {}

    // Honest life -------------------------------------------------------------------------------------

    function fundHonestly(bool large) external {
        FundBatch memory batch = makeBatch(large ? 64 : 16, string.concat("handler/", vm.toString(_serial++)));
        _submit(batch, FUNDER_KEY);
    }

    function _submit(FundBatch memory batch, uint256 key) private {
        (Groth16Proof memory proof, bytes memory signature) = (prove(batch), signWith(key, authorizationDigest(batch)));
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
        bytes32 batchId = batchIdOf(batch);
        if (_batchRootOf[batchId] != 0) violation = "P2: a batchId was used twice";
        if (batch.funder == funder) totalFunded += batch.total;
        else totalForeign += batch.total;
        settled++;
        _batchRootOf[batchId] = batch.batchRoot;
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

    /// @dev The relayer uses the nonce of a coming batch with money of its own. The honest batch must land.
    function burnNext(uint256 ahead) external {
        FundBatch memory foreign = makeBatch(16, string.concat("foreign/", vm.toString(_foreignSerial++)));
        foreign.funder = vm.addr(FOREIGN_KEY);
        foreign.batchNonce = fieldElement(string.concat("handler/", vm.toString(_serial + ahead % 3), "/nonce"));
        if (pool.batchNonceUsed(foreign.funder, foreign.batchNonce) != 0) return;
        token.mint(foreign.funder, foreign.total);
        vm.prank(foreign.funder);
        token.approve(address(pool), foreign.total);
        _submit(foreign, FOREIGN_KEY);
    }

    function replay(uint256 which) external {
        if (_landed.length == 0) return;
        FundBatch memory batch = _landed[which % _landed.length];
        batch.deadline = block.timestamp + 1;
        bytes memory signature = signWith(_keyOf(batch.funder), authorizationDigest(batch));
        _expectRefused(batch, prove(batch), signature, relayer, "P2: a replay landed");
    }

    function voidLanded(uint256 which) external {
        if (_landed.length == 0) return;
        FundBatch memory batch = _landed[which % _landed.length];
        (address payer, bytes32 nonce) = (batch.funder, batch.batchNonce);
        bytes memory signature = signWith(_keyOf(payer), voidDigest(payer, nonce));
        try pool.voidBatch(payer, nonce, signature) {
            violation = "P2: a used nonce was voided";
        } catch {
            refusedForgeries++;
        }
    }

    function _keyOf(address payer) private view returns (uint256) {
        return payer == funder ? FUNDER_KEY : FOREIGN_KEY;
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

    function landed(uint256 index) external view returns (address payer, bytes32 nonce, bytes32 batchRoot) {
        FundBatch storage batch = _landed[index];
        return (batch.funder, batch.batchNonce, batch.batchRoot);
    }

    function voided() external view returns (bytes32[] memory) {
        return _voided;
    }
}
