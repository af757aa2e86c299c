// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {P256} from "@openzeppelin/contracts/utils/cryptography/P256.sol";
import {Base64} from "@openzeppelin/contracts/utils/Base64.sol";

bytes4 constant CONSENT = 0x1626ba7e;
bytes4 constant REFUSAL = 0xffffffff;

/// @dev Spends an amount of gas on nothing, then takes every signature. Hostile funders look like this.
contract BurningWallet {
    uint256 private immutable _burn;

    /// @param burn Gas to spend; the maximum of the type means: all there is.
    constructor(uint256 burn) {
        _burn = burn;
    }

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        uint256 start = gasleft();
        if (_burn == type(uint256).max) {
            while (true) {}
        }
        while (start - gasleft() < _burn) {}
        return CONSENT;
    }
}

/// @dev Takes every signature when it gets less gas than it asks for, and none otherwise.
contract StarvingWallet {
    uint256 private immutable _enough;

    constructor(uint256 enough) {
        _enough = enough;
    }

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        return gasleft() < _enough ? CONSENT : REFUSAL;
    }
}

/// @dev Takes every signature and answers with as many zero words more as it is told.
contract VerboseWallet {
    uint256 private immutable _words;

    constructor(uint256 words) {
        _words = words;
    }

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        uint256 size = 0x20 * (1 + _words);
        assembly {
            mstore(0, 0x1626ba7e00000000000000000000000000000000000000000000000000000000)
            return(0, size)
        }
    }
}

/// @dev Every one of its owners signs (ECDSA); the owners are in storage, as accounts keep them.
contract OwnersWallet {
    address[] private _owners;

    constructor(address[] memory owners) {
        _owners = owners;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        uint256 count = _owners.length;
        if (signature.length != count * 65) return REFUSAL;
        for (uint256 i = 0; i < count; i++) {
            (address recovered,,) = ECDSA.tryRecoverCalldata(digest, signature[i * 65:(i + 1) * 65]);
            if (recovered != _owners[i]) return REFUSAL;
        }
        return CONSENT;
    }
}

/// @dev Every one of its passkeys signs: WebAuthn over P-256, computed in Solidity as on a chain without the
/// precompile of EIP-7951. The authenticator's data and the client's JSON are as long as a browser makes them.
contract PasskeysWallet {
    struct Key {
        bytes32 x;
        bytes32 y;
    }

    Key[] private _keys;

    constructor(Key[] memory keys) {
        for (uint256 i = 0; i < keys.length; i++) {
            _keys.push(keys[i]);
        }
    }

    /// @dev What a passkey signs for a challenge.
    function messageHash(bytes32 challenge) public pure returns (bytes32) {
        bytes memory client = bytes.concat(
            '{"type":"webauthn.get","challenge":"',
            bytes(Base64.encodeURL(abi.encodePacked(challenge))),
            '","origin":"https://payroll.example","crossOrigin":false}'
        );
        return sha256(bytes.concat(keccak256("payroll.example"), hex"0500000001", sha256(client)));
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        bytes32[2][] memory signatures = abi.decode(signature, (bytes32[2][]));
        uint256 count = _keys.length;
        if (signatures.length != count) return REFUSAL;
        for (uint256 i = 0; i < count; i++) {
            Key memory key = _keys[i];
            bool valid = P256.verifySolidity(messageHash(digest), signatures[i][0], signatures[i][1], key.x, key.y);
            if (!valid) return REFUSAL;
        }
        return CONSENT;
    }
}
