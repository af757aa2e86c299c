// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IShieldedPool, SpendCall} from "../solidity/interfaces/IShieldedPool.sol";
import {HiddenSigner} from "./support/HiddenSigner.sol";
import {Secp256k1} from "./support/Secp256k1.sol";
import {SpendAuthorizationHarness} from "./support/SpendAuthorizationHarness.sol";

/// @dev What a contract would check that compares one address only, on its lowest 24 bits.
contract OneComparison {
    function accepts(SpendCall calldata operation) external pure returns (bool) {
        address signer = _recover(operation, operation.maskedDigest);
        return uint24(uint160(signer)) == uint24(uint160(Secp256k1.toAddress(operation.maskedX, operation.maskedY)));
    }

    /// @dev The second comparison alone, of W' + G.
    function acceptsShifted(SpendCall calldata operation) external view returns (bool) {
        Secp256k1.Point memory masked = Secp256k1.Point(operation.maskedX, operation.maskedY);
        Secp256k1.Point memory shifted = Secp256k1.add(masked, Secp256k1.generator());
        uint256 digest = addmod(operation.maskedDigest, Secp256k1.N - operation.rSig, Secp256k1.N);
        address signer = _recover(operation, digest);
        return uint24(uint160(signer)) == uint24(uint160(Secp256k1.toAddress(shifted.x, shifted.y)));
    }

    function _recover(SpendCall calldata operation, uint256 digest) private pure returns (address) {
        return ecrecover(bytes32(digest), 27 + operation.parity, bytes32(operation.rSig), bytes32(operation.s));
    }
}

/// @dev The collision attack of protocol §7, run on addresses of 24 bits with 2^14 points on each side. The attacker
/// knows W, the note and its viewing key, as a stolen prover host does, and not W's private key. It lists W + b̂·G for
/// many b and q·G for many q of its own. Two points with the same short address are not the same point. With 160 bits
/// the same search takes 2^80 steps for one comparison, and 2^160 for both.
contract SpendCollisionTest is HiddenSigner {
    uint256 internal constant POINTS = 2 ** 14;
    /// @dev Slots of the hash table: twice the points.
    uint256 internal constant SLOTS = 2 ** 15;
    uint160 internal constant MASK = type(uint24).max;

    SpendAuthorizationHarness internal pool = new SpendAuthorizationHarness();
    OneComparison internal oneComparison = new OneComparison();

    /// @dev What the attacker knows of the holder: a point.
    function _holder() private view returns (Secp256k1.Point memory) {
        return multiplyG(HOLDER_KEY);
    }

    function test_theAttackPassesOneComparisonAndNeverBoth() public {
        Secp256k1.Point memory start = Secp256k1.add(_holder(), multiplyG(wideB(0)));
        // masked[i] = W + (b̂ of b = i + 1)·G, own[j] = (j + 1)·G.
        Secp256k1.Point[] memory own = Secp256k1.multiplesOfG(POINTS);
        Secp256k1.Point[] memory masked = Secp256k1.addToAll(start, own, POINTS);
        uint256[] memory table = _tableOf(own);
        uint256 hits = 0;
        for (uint256 i = 1; i < POINTS; i++) {
            uint256 j = _find(table, own, masked[i]);
            // The same pair, one step down, collides in the second comparison.
            if (j == 0) continue;
            hits++;
            SpendCall memory forged = _forge(masked[i], j + 1);
            assertTrue(oneComparison.accepts(forged), "the forgery misses the first comparison");
            _refusedByBoth(forged);
            forged = _forge(masked[i - 1], j);
            assertTrue(oneComparison.acceptsShifted(forged), "the forgery misses the second comparison");
            _refusedByBoth(forged);
        }
        // 2^28 pairs, 2^24 addresses.
        assertTrue(hits >= 4, "the attack found too little to show anything");
    }

    function test_theHonestHolderPassesBoth() public view {
        SpendCall memory operation;
        authorise(operation, HOLDER_KEY, uint256(keccak256("m")) >> 8, 1);
        assertTrue(oneComparison.accepts(operation), "the first comparison");
        assertTrue(oneComparison.acceptsShifted(operation), "the second comparison");
        pool.requireValidUpTo(operation, MASK);
    }

    /// @dev An operation under W', signed with the attacker's own key q.
    function _forge(Secp256k1.Point memory masked, uint256 q) private view returns (SpendCall memory forged) {
        uint256 digest = uint256(keccak256("what the attacker spends")) % Secp256k1.N;
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(q, bytes32(digest));
        (forged.rSig, forged.s, forged.parity) = (uint256(r), uint256(s), v - 27);
        forged.maskedDigest = digest;
        putMaskedKey(forged, masked);
    }

    function _refusedByBoth(SpendCall memory forged) private {
        vm.expectRevert(IShieldedPool.InvalidSpendSignature.selector);
        pool.requireValidUpTo(forged, MASK);
    }

    function _shorten(Secp256k1.Point memory point) private pure returns (uint256) {
        return uint160(Secp256k1.toAddress(point.x, point.y)) & MASK;
    }

    /// @dev Index + 1 by short address, with open addressing.
    function _tableOf(Secp256k1.Point[] memory points) private pure returns (uint256[] memory table) {
        table = new uint256[](SLOTS);
        for (uint256 i = 0; i < points.length; i++) {
            uint256 slot = _shorten(points[i]) % SLOTS;
            while (table[slot] != 0) slot = (slot + 1) % SLOTS;
            table[slot] = i + 1;
        }
    }

    /// @dev Index of a point with the same short address, 0 if there is none.
    function _find(uint256[] memory table, Secp256k1.Point[] memory points, Secp256k1.Point memory point)
        private
        pure
        returns (uint256)
    {
        uint256 short = _shorten(point);
        for (uint256 slot = short % SLOTS; table[slot] != 0; slot = (slot + 1) % SLOTS) {
            if (_shorten(points[table[slot] - 1]) == short) return table[slot] - 1;
        }
        return 0;
    }
}
