// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SpendCall} from "../../solidity/interfaces/IShieldedPool.sol";
import {Secp256k1} from "./Secp256k1.sol";
import {TestBase} from "./TestBase.sol";
import {Vm} from "./Vm.sol";

/// @dev What a holder's signer and prover do for the authorisation of a spend, by the words of protocol §7.
abstract contract HiddenSigner is TestBase {
    uint256 internal constant HOLDER_KEY = uint256(keccak256("holder"));

    /// @dev The public key of a private key, from forge.
    function multiplyG(uint256 scalar) internal view returns (Secp256k1.Point memory) {
        Vm.Wallet memory wallet = vm.createWallet(scalar % Secp256k1.N);
        return Secp256k1.Point(wallet.publicKeyX, wallet.publicKeyY);
    }

    function wideB(uint256 b) internal pure returns (uint256) {
        return uint256(uint248(b)) + Secp256k1.WINDOWS_OFFSET;
    }

    /// @dev Puts W', m', the slope and the signature of `key` over the digest `m` into the call. b has 248 bits.
    function authorise(SpendCall memory operation, uint256 key, uint256 m, uint256 b) internal view {
        Secp256k1.Point memory masked = Secp256k1.add(multiplyG(key), multiplyG(wideB(b)));
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key % Secp256k1.N, bytes32(m));
        operation.parity = v - 27;
        (operation.rSig, operation.s) = (uint256(r), uint256(s));
        operation.maskedDigest = shiftDigest(m, uint256(r), wideB(b));
        putMaskedKey(operation, masked);
    }

    /// @dev m - rSig·b̂ mod n.
    function shiftDigest(uint256 m, uint256 rSig, uint256 wide) internal pure returns (uint256) {
        return addmod(m, Secp256k1.N - mulmod(rSig, wide, Secp256k1.N), Secp256k1.N);
    }

    function putMaskedKey(SpendCall memory operation, Secp256k1.Point memory masked) internal view {
        (operation.maskedX, operation.maskedY) = (masked.x, masked.y);
        operation.slope = Secp256k1.slopeOf(masked, Secp256k1.generator());
    }
}
