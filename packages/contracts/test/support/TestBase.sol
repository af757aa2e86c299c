// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Vm} from "./Vm.sol";

/// @dev Assertions and the fuzzer's view of targets: the little of a test library that these tests need.
abstract contract TestBase {
    // The address forge gives its cheatcodes.
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    bool public constant IS_TEST = true;

    error AssertionFailed(string what);
    error NotEqual(string what, uint256 actual, uint256 expected);

    function assertTrue(bool condition, string memory what) internal pure {
        if (!condition) revert AssertionFailed(what);
    }

    function assertEq(uint256 actual, uint256 expected, string memory what) internal pure {
        if (actual != expected) revert NotEqual(what, actual, expected);
    }

    function assertEq(bytes32 actual, bytes32 expected, string memory what) internal pure {
        if (actual != expected) revert NotEqual(what, uint256(actual), uint256(expected));
    }

    function assertEq(address actual, address expected, string memory what) internal pure {
        if (actual != expected) revert NotEqual(what, uint160(actual), uint160(expected));
    }

    /// @dev Maps any number into [low, high].
    function bound(uint256 value, uint256 low, uint256 high) internal pure returns (uint256) {
        if (value >= low && value <= high) return value;
        uint256 span = high - low;
        if (span == type(uint256).max) return value;
        return low + (value % (span + 1));
    }
}
