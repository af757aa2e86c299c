// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IShieldedPool, SpendCall} from "../solidity/interfaces/IShieldedPool.sol";
import {HiddenSigner} from "./support/HiddenSigner.sol";
import {Secp256k1} from "./support/Secp256k1.sol";
import {SpendAuthorizationHarness} from "./support/SpendAuthorizationHarness.sol";

/// @dev The authorisation of protocol §7 with real signatures: what it accepts, and one test for each of its checks.
contract SpendAuthorizationTest is HiddenSigner {
    uint256 internal constant R = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001;
    uint256 internal constant M = uint256(keccak256("operation")) % R;
    uint256 internal constant B = uint256(keccak256("b"));

    SpendAuthorizationHarness internal harness = new SpendAuthorizationHarness();

    function _signed() private view returns (SpendCall memory operation) {
        authorise(operation, HOLDER_KEY, M, B);
    }

    function _refuses(SpendCall memory operation, bytes4 selector) private {
        vm.expectRevert(selector);
        harness.requireValid(operation);
    }

    // What it accepts ---------------------------------------------------------------------------------

    /// @dev W' is also the public key of w + b̂: the signature over m under W is one over m' under W'.
    function testFuzz_acceptsASignatureOfTheHiddenKey(uint256 key, uint256 m, uint256 b) public view {
        key = bound(key, 1, Secp256k1.N - 1);
        SpendCall memory operation;
        authorise(operation, key, m % R, b);
        harness.requireValid(operation);
        Secp256k1.Point memory masked = multiplyG(addmod(key, wideB(b), Secp256k1.N));
        assertEq(operation.maskedX, masked.x, "W'x");
        assertEq(operation.maskedY, masked.y, "W'y");
    }

    function test_acceptsTheSmallestAndTheLargestB() public view {
        SpendCall memory operation;
        authorise(operation, HOLDER_KEY, M, 0);
        harness.requireValid(operation);
        authorise(operation, HOLDER_KEY, M, type(uint248).max);
        harness.requireValid(operation);
    }

    /// @dev A nullifier can be used once, so a second form of the same signature is worth nothing.
    function test_acceptsTheHighSTwinOfASignature() public view {
        SpendCall memory operation = _signed();
        operation.s = Secp256k1.N - operation.s;
        operation.parity ^= 1;
        harness.requireValid(operation);
    }

    /// @dev vectors/spend.json, from implementations outside this repository.
    function test_acceptsTheVectors() public view {
        string memory json = vm.readFile("../../vectors/spend.json");
        uint256 checked = 0;
        for (; vm.keyExistsJson(json, _at(checked, "")); checked++) {
            SpendCall memory operation;
            operation.maskedX = vm.parseJsonUint(json, _at(checked, ".masked.x"));
            operation.maskedY = vm.parseJsonUint(json, _at(checked, ".masked.y"));
            operation.slope = vm.parseJsonUint(json, _at(checked, ".masked.slope"));
            operation.maskedDigest = vm.parseJsonUint(json, _at(checked, ".masked.digest"));
            operation.rSig = vm.parseJsonUint(json, _at(checked, ".signature.rSig"));
            operation.s = vm.parseJsonUint(json, _at(checked, ".signature.s"));
            operation.parity = uint8(vm.parseJsonUint(json, _at(checked, ".signature.parity")));
            harness.requireValid(operation);
            _equalsOurOwn(json, checked, operation);
        }
        assertTrue(checked >= 4, "no vectors");
    }

    /// @dev What the tests of this folder make from key, m and b is what the vector has.
    function _equalsOurOwn(string memory json, uint256 index, SpendCall memory operation) private view {
        SpendCall memory own;
        uint256 key = vm.parseJsonUint(json, _at(index, ".privateKey"));
        uint256 b = vm.parseJsonUint(json, _at(index, ".blinding"));
        authorise(own, key, vm.parseJsonUint(json, _at(index, ".digest")), b);
        assertEq(own.maskedX, operation.maskedX, "W'x");
        assertEq(own.maskedY, operation.maskedY, "W'y");
        assertEq(own.slope, operation.slope, "slope");
        // RFC 6979 on both sides.
        assertEq(own.rSig, operation.rSig, "rSig");
        assertEq(own.maskedDigest, operation.maskedDigest, "m'");
    }

    function _at(uint256 index, string memory field) private pure returns (string memory) {
        return string.concat(".spends[", vm.toString(index), "]", field);
    }

    // Whose signature ---------------------------------------------------------------------------------

    function testFuzz_refusesTheSignatureOfAnotherKey(uint256 key) public {
        key = bound(key, 1, Secp256k1.N - 1);
        vm.assume(key != HOLDER_KEY % Secp256k1.N);
        SpendCall memory operation = _signed();
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, bytes32(M));
        (operation.rSig, operation.s, operation.parity) = (uint256(r), uint256(s), v - 27);
        operation.maskedDigest = shiftDigest(M, operation.rSig, wideB(B));
        _refuses(operation, IShieldedPool.InvalidSpendSignature.selector);
    }

    function testFuzz_refusesTheSignatureOfAnotherOperation(uint256 m) public {
        vm.assume(m % R != M);
        SpendCall memory operation = _signed();
        operation.maskedDigest = shiftDigest(m % R, operation.rSig, wideB(B));
        _refuses(operation, IShieldedPool.InvalidSpendSignature.selector);
    }

    function testFuzz_refusesAnotherBInTheDigestThanInTheKey(uint256 b) public {
        vm.assume(uint248(b) != uint248(B));
        SpendCall memory operation = _signed();
        operation.maskedDigest = shiftDigest(M, operation.rSig, wideB(b));
        _refuses(operation, IShieldedPool.InvalidSpendSignature.selector);
    }

    function testFuzz_refusesEveryChangedValue(uint256 which, uint256 value) public {
        SpendCall memory operation = _signed();
        which %= 7;
        if (which == 0) (operation.maskedX, value) = (value, operation.maskedX ^ value);
        else if (which == 1) (operation.maskedY, value) = (value, operation.maskedY ^ value);
        else if (which == 2) (operation.slope, value) = (value, operation.slope ^ value);
        else if (which == 3) (operation.maskedDigest, value) = (value, operation.maskedDigest ^ value);
        else if (which == 4) (operation.rSig, value) = (value, operation.rSig ^ value);
        else if (which == 5) (operation.s, value) = (value, operation.s ^ value);
        else (operation.parity, value) = (uint8(value), uint8(value) ^ operation.parity);
        vm.assume(value != 0);
        vm.expectRevert();
        harness.requireValid(operation);
    }

    // Ranges ------------------------------------------------------------------------------------------

    function test_refusesACoordinateOfPOrMore() public {
        SpendCall memory operation = _signed();
        // The only aliases of coordinates that 256 bits hold are those of x < 2^32 + 977, so the values are made up.
        operation.maskedX = Secp256k1.P;
        _refuses(operation, IShieldedPool.MaskedKeyOutOfRange.selector);
        operation.maskedX = type(uint256).max;
        _refuses(operation, IShieldedPool.MaskedKeyOutOfRange.selector);
        operation = _signed();
        operation.maskedY = Secp256k1.P;
        _refuses(operation, IShieldedPool.MaskedKeyOutOfRange.selector);
        operation.maskedY = type(uint256).max;
        _refuses(operation, IShieldedPool.MaskedKeyOutOfRange.selector);
    }

    /// @dev m' + n is another spelling of the digest that the signature signs: without the check it would pass.
    function test_refusesAMaskedDigestOfNOrMore() public {
        SpendCall memory operation = _signed();
        operation.maskedDigest = Secp256k1.N;
        _refuses(operation, IShieldedPool.SpendSignatureOutOfRange.selector);
        uint256 room = type(uint256).max - Secp256k1.N;
        // A signature whose m' is small enough for the alias to fit: choose m' and compute m from it.
        SpendCall memory small = _withMaskedDigest(room);
        harness.requireValid(small);
        small.maskedDigest += Secp256k1.N;
        _refuses(small, IShieldedPool.SpendSignatureOutOfRange.selector);
    }

    /// @dev W' signs m' directly: its key is w + b̂.
    function _withMaskedDigest(uint256 maskedDigest) private view returns (SpendCall memory operation) {
        authorise(operation, HOLDER_KEY, M, B);
        uint256 key = addmod(HOLDER_KEY, wideB(B), Secp256k1.N);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, bytes32(maskedDigest));
        (operation.rSig, operation.s, operation.parity) = (uint256(r), uint256(s), v - 27);
        operation.maskedDigest = maskedDigest;
    }

    function test_refusesAnRSigOfNOrMore() public {
        SpendCall memory operation = _signed();
        operation.rSig = Secp256k1.N;
        _refuses(operation, IShieldedPool.SpendSignatureOutOfRange.selector);
        operation.rSig = type(uint256).max;
        _refuses(operation, IShieldedPool.SpendSignatureOutOfRange.selector);
    }

    function test_refusesAParityOfTwoOrMore() public {
        SpendCall memory operation = _signed();
        uint8[4] memory wrong = [operation.parity + 2, 27 + operation.parity, 228, 255];
        for (uint256 i = 0; i < wrong.length; i++) {
            operation.parity = wrong[i];
            _refuses(operation, IShieldedPool.SpendSignatureOutOfRange.selector);
        }
    }

    /// @dev ecrecover answers 0 for each of these. With no bit of the addresses compared, 0 alone must be refused.
    function test_refusesWhatIsNoSignature() public {
        SpendCall memory operation = _signed();
        harness.requireValidUpTo(operation, 0);
        uint256[3] memory wrong = [uint256(0), Secp256k1.N, type(uint256).max];
        for (uint256 i = 0; i < wrong.length; i++) {
            operation.s = wrong[i];
            _refuses(operation, IShieldedPool.InvalidSpendSignature.selector);
            vm.expectRevert(IShieldedPool.InvalidSpendSignature.selector);
            harness.requireValidUpTo(operation, 0);
        }
        operation = _signed();
        operation.rSig = 0;
        vm.expectRevert(IShieldedPool.InvalidSpendSignature.selector);
        harness.requireValidUpTo(operation, 0);
    }

    // W' + G ------------------------------------------------------------------------------------------

    function testFuzz_refusesAnotherSlope(uint256 slope) public {
        SpendCall memory operation = _signed();
        vm.assume(slope % Secp256k1.P != operation.slope);
        operation.slope = slope;
        _refuses(operation, IShieldedPool.WrongSlope.selector);
    }

    /// @dev For W' = G every slope satisfies the equation of the line, so W' + G would be the sender's choice.
    function testFuzz_refusesTheGeneratorAsW(uint256 slope) public {
        SpendCall memory operation = _signed();
        (operation.maskedX, operation.maskedY, operation.slope) = (Secp256k1.GX, Secp256k1.GY, slope);
        _refuses(operation, IShieldedPool.WrongSlope.selector);
        operation.maskedY = Secp256k1.P - Secp256k1.GY;
        _refuses(operation, IShieldedPool.WrongSlope.selector);
    }

    /// @dev A point off the curve is nobody's key: no signature recovers to it.
    function testFuzz_refusesAPointOffTheCurve(uint256 y) public {
        SpendCall memory operation = _signed();
        y = bound(y, 0, Secp256k1.P - 1);
        vm.assume(y != operation.maskedY);
        putMaskedKey(operation, Secp256k1.Point(operation.maskedX, y));
        _refuses(operation, IShieldedPool.InvalidSpendSignature.selector);
    }
}
