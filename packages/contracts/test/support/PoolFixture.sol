// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {EligibilityRegistry} from "../../solidity/EligibilityRegistry.sol";
import {ShieldedPool} from "../../solidity/ShieldedPool.sol";
import {CircuitVerifier, Groth16Proof} from "../../solidity/interfaces/IGroth16Verifier.sol";
import {FundBatch, Permit} from "../../solidity/interfaces/IShieldedPool.sol";
import {PoolTestToken} from "../../solidity/sandbox/PoolTestToken.sol";
import {TestBase} from "./TestBase.sol";
import {TrapdoorVerifier} from "./TrapdoorVerifier.sol";

/// @dev A deployed pool with one token, a funder with money and an allowance, and the means to make batches
/// with valid signatures and proofs. Everything a batch needs is derived from a label, so tests are repeatable.
abstract contract PoolFixture is TestBase {
    uint256 internal constant R = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001;
    uint256 internal constant FUNDER_KEY = uint256(keccak256("funder"));
    uint256 internal constant START = 1_800_000_000;
    uint64 internal constant GRACE = 1 hours;
    uint256 internal constant FUNDS = 1e30;

    address internal immutable funder = vm.addr(FUNDER_KEY);
    address internal immutable admin = vm.addr(uint256(keccak256("admin")));
    address internal immutable guardian = vm.addr(uint256(keccak256("guardian")));
    address internal immutable relayer = vm.addr(uint256(keccak256("relayer")));
    address internal immutable gate = vm.addr(uint256(keccak256("gate")));
    address internal immutable stranger = vm.addr(uint256(keccak256("stranger")));

    ShieldedPool internal pool;
    EligibilityRegistry internal registry;
    TrapdoorVerifier internal verifier16;
    TrapdoorVerifier internal verifier64;
    TrapdoorVerifier internal verifier256;
    TrapdoorVerifier internal verifier2x4;
    TrapdoorVerifier internal verifier16x8;
    PoolTestToken internal token;
    bytes32 internal eligibilityRoot = fieldElement("eligibility root");

    function setUp() public virtual {
        vm.warp(START);
        registry = new EligibilityRegistry(admin, gate, GRACE);
        verifier16 = new TrapdoorVerifier();
        verifier64 = new TrapdoorVerifier();
        verifier256 = new TrapdoorVerifier();
        verifier2x4 = new TrapdoorVerifier();
        verifier16x8 = new TrapdoorVerifier();
        pool = new ShieldedPool(admin, guardian, relayer, registry, verifiers());
        token = new PoolTestToken("Test Dollar", "TUSD", address(this));
        token.mint(funder, FUNDS);
        vm.prank(admin);
        pool.enableToken(address(token));
        vm.prank(gate);
        registry.publish(eligibilityRoot);
        vm.prank(funder);
        token.approve(address(pool), type(uint256).max);
    }

    function verifiers() internal view returns (CircuitVerifier[] memory all) {
        all = new CircuitVerifier[](5);
        all[0] = CircuitVerifier(0, 16, verifier16);
        all[1] = CircuitVerifier(0, 64, verifier64);
        all[2] = CircuitVerifier(0, 256, verifier256);
        all[3] = CircuitVerifier(2, 4, verifier2x4);
        all[4] = CircuitVerifier(16, 8, verifier16x8);
    }

    function fieldElement(string memory label) internal pure returns (bytes32) {
        return bytes32(uint256(keccak256(bytes(label))) % R);
    }

    function makeBatch(uint256 size, string memory label) internal view returns (FundBatch memory batch) {
        batch.funder = funder;
        batch.token = address(token);
        batch.total = 1_000_000 * size;
        batch.batchNonce = fieldElement(string.concat(label, "/nonce"));
        batch.eligibilityRoot = eligibilityRoot;
        batch.batchRoot = fieldElement(string.concat(label, "/root"));
        batch.commitments = new bytes32[](size);
        for (uint256 i = 0; i < size; i++) {
            batch.commitments[i] = fieldElement(string.concat(label, "/commitment/", vm.toString(i)));
        }
        batch.sealedNotesHash = keccak256(bytes(string.concat(label, "/sealed notes")));
        batch.digest = fieldElement(string.concat(label, "/digest"));
        batch.deadline = block.timestamp + 1 hours;
    }

    /// @dev batchId of protocol §3, by its own words.
    function batchIdOf(FundBatch memory batch) internal pure returns (bytes32) {
        return bytes32(uint256(keccak256(bytes.concat(bytes32(uint256(uint160(batch.funder))), batch.batchNonce))) % R);
    }

    /// @dev x of protocol §6, by its own words.
    function publicVector(FundBatch memory batch) internal view returns (uint256[] memory x) {
        x = new uint256[](5 + batch.commitments.length);
        x[0] = uint256(keccak256(abi.encode(block.chainid, address(pool), batch.token))) % R;
        x[1] = batch.total;
        x[2] = uint256(batchIdOf(batch));
        x[3] = uint256(batch.eligibilityRoot);
        x[4] = uint256(batch.batchRoot);
        for (uint256 i = 0; i < batch.commitments.length; i++) {
            x[5 + i] = uint256(batch.commitments[i]);
        }
    }

    /// @dev z and y as protocol §5 states them, y as a plain sum of powers: an implementation of its own.
    function straightforward(uint256 digest, uint256[] memory x) internal pure returns (uint256 z, uint256 y) {
        z = uint256(keccak256(abi.encodePacked(digest, x))) % R;
        uint256 power = 1;
        for (uint256 i = 0; i < x.length; i++) {
            y = addmod(y, mulmod(x[i], power, R), R);
            power = mulmod(power, z, R);
        }
    }

    /// @dev Batches of a size that no circuit has get a proof of the smallest.
    function verifierOf(uint256 size) internal view returns (TrapdoorVerifier) {
        if (size == 256) return verifier256;
        return size == 64 ? verifier64 : verifier16;
    }

    function prove(FundBatch memory batch) internal view returns (Groth16Proof memory) {
        (uint256 z, uint256 y) = straightforward(uint256(batch.digest), publicVector(batch));
        return verifierOf(batch.commitments.length).prove(uint256(batch.digest), z, y);
    }

    function domainSeparator() internal view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("ShieldedPool"),
                keccak256("1"),
                block.chainid,
                address(pool)
            )
        );
    }

    function authorizationDigest(FundBatch memory batch) internal view returns (bytes32) {
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256(
                    "FundAuthorization(address funder,address token,uint256 total,bytes32 batchRoot,bytes32 batchNonce,bytes32 sealedNotesHash,uint256 deadline)"
                ),
                batch.funder,
                batch.token,
                batch.total,
                batch.batchRoot,
                batch.batchNonce,
                batch.sealedNotesHash,
                batch.deadline
            )
        );
        return keccak256(abi.encodePacked("\x19\x01", domainSeparator(), structHash));
    }

    function voidDigest(address account, bytes32 batchNonce) internal view returns (bytes32) {
        bytes32 structHash =
            keccak256(abi.encode(keccak256("VoidBatch(address funder,bytes32 batchNonce)"), account, batchNonce));
        return keccak256(abi.encodePacked("\x19\x01", domainSeparator(), structHash));
    }

    function signWith(uint256 key, bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return abi.encodePacked(r, s, v);
    }

    function sign(FundBatch memory batch) internal view returns (bytes memory) {
        return signWith(FUNDER_KEY, authorizationDigest(batch));
    }

    function noPermit() internal pure returns (Permit memory permit) {}

    /// @dev Sends a batch as the relayer, with a signature and a proof that fit it.
    function fund(FundBatch memory batch) internal {
        fundWith(batch, prove(batch), sign(batch), noPermit());
    }

    function fundWith(FundBatch memory batch, Groth16Proof memory proof, bytes memory signature, Permit memory permit)
        internal
    {
        vm.prank(relayer);
        pool.fund(batch, proof, signature, permit);
    }

    /// @dev Expects the batch, with fitting signature and proof, to be refused with this error.
    function expectRefusal(FundBatch memory batch, bytes memory revertData) internal {
        expectRefusalWith(batch, prove(batch), sign(batch), revertData);
    }

    function expectRefusalWith(
        FundBatch memory batch,
        Groth16Proof memory proof,
        bytes memory signature,
        bytes memory revertData
    ) internal {
        Permit memory permit = noPermit();
        vm.prank(relayer);
        vm.expectRevert(revertData);
        pool.fund(batch, proof, signature, permit);
    }

    function encode(bytes4 selector) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(selector);
    }
}
