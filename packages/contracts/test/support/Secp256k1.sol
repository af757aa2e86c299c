// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @dev secp256k1 in affine coordinates, for tests only: nothing here is constant in time, and sums of a point with
/// itself or with its negative are not handled where the comment says so.
library Secp256k1 {
    uint256 internal constant P = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEFFFFFC2F;
    uint256 internal constant N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;
    uint256 internal constant GX = 0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798;
    uint256 internal constant GY = 0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8;
    /// @dev (2^248 - 1) / 255: what b̂ exceeds b by, for 31 windows of 8 bits (protocol §7).
    uint256 internal constant WINDOWS_OFFSET = (2 ** 248 - 1) / 255;

    struct Point {
        uint256 x;
        uint256 y;
    }

    function generator() internal pure returns (Point memory) {
        return Point(GX, GY);
    }

    function toAddress(uint256 x, uint256 y) internal pure returns (address) {
        return address(uint160(uint256(keccak256(abi.encode(x, y)))));
    }

    /// @dev 1 / value mod P, by Fermat.
    function invert(uint256 value) internal view returns (uint256) {
        bytes memory input = abi.encode(uint256(32), uint256(32), uint256(32), value, P - 2, P);
        (bool done, bytes memory output) = address(5).staticcall(input);
        require(done, "modexp failed");
        return abi.decode(output, (uint256));
    }

    /// @dev Slope of the line through two points with different x.
    function slopeOf(Point memory a, Point memory b) internal view returns (uint256) {
        return mulmod(addmod(a.y, P - b.y, P), invert(addmod(a.x, P - b.x, P)), P);
    }

    function addOnLine(Point memory a, Point memory b, uint256 slope) internal pure returns (Point memory sum) {
        sum.x = addmod(mulmod(slope, slope, P), addmod(P - a.x, P - b.x, P), P);
        sum.y = addmod(mulmod(slope, addmod(a.x, P - sum.x, P), P), P - a.y, P);
    }

    /// @dev For points with different x.
    function add(Point memory a, Point memory b) internal view returns (Point memory) {
        return addOnLine(a, b, slopeOf(a, b));
    }

    function double(Point memory a) internal view returns (Point memory) {
        uint256 slope = mulmod(mulmod(3, mulmod(a.x, a.x, P), P), invert(mulmod(2, a.y, P)), P);
        return addOnLine(a, a, slope);
    }

    /// @dev G, 2G, .. count·G.
    function multiplesOfG(uint256 count) internal view returns (Point[] memory points) {
        points = new Point[](count);
        points[0] = generator();
        if (count > 1) points[1] = double(points[0]);
        for (uint256 known = 2; known < count; known *= 2) {
            uint256 size = count - known < known ? count - known : known;
            // The last known point plus itself is a doubling, which the slope of two points cannot do.
            bool isWhole = size == known;
            Point[] memory sums = addToAll(points[known - 1], points, isWhole ? size - 1 : size);
            for (uint256 i = 0; i < sums.length; i++) {
                points[known + i] = sums[i];
            }
            if (isWhole) points[2 * known - 1] = double(points[known - 1]);
        }
    }

    /// @dev base + each of the first `count` points: one inversion for all (Montgomery's trick).
    function addToAll(Point memory base, Point[] memory points, uint256 count)
        internal
        view
        returns (Point[] memory sums)
    {
        uint256[] memory products = new uint256[](count + 1);
        products[0] = 1;
        for (uint256 i = 0; i < count; i++) {
            products[i + 1] = mulmod(products[i], addmod(points[i].x, P - base.x, P), P);
        }
        uint256 inverse = invert(products[count]);
        sums = new Point[](count);
        for (uint256 i = count; i > 0; i--) {
            Point memory point = points[i - 1];
            uint256 slope = mulmod(addmod(point.y, P - base.y, P), mulmod(inverse, products[i - 1], P), P);
            inverse = mulmod(inverse, addmod(point.x, P - base.x, P), P);
            sums[i - 1] = addOnLine(point, base, slope);
        }
    }
}
