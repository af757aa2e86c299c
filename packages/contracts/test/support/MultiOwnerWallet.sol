// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @dev A contract wallet of several owners (ERC-1271), for tests. It is not a Safe. Its owners sign what those of a Safe sign: the
/// EIP-712 SafeMessage of the wallet on its chain, joined in the order of their addresses.
contract MultiOwnerWallet {
    bytes32 private constant DOMAIN_TYPEHASH = keccak256("EIP712Domain(uint256 chainId,address verifyingContract)");
    bytes32 private constant MESSAGE_TYPEHASH = keccak256("SafeMessage(bytes message)");

    address[] private _owners;
    uint256 private _threshold;

    constructor(address[] memory owners, uint256 threshold) {
        _owners = owners;
        _threshold = threshold;
    }

    function getOwners() external view returns (address[] memory) {
        return _owners;
    }

    function getThreshold() external view returns (uint256) {
        return _threshold;
    }

    /// @dev A real wallet asks its owners. Here anybody may, because only tests have one.
    function setOwners(address[] calldata owners, uint256 threshold) external {
        _owners = owners;
        _threshold = threshold;
    }

    /// @dev As above.
    function execute(address target, bytes calldata data) external {
        (bool done,) = target.call(data);
        require(done, "call failed");
    }

    function isValidSignature(bytes32 digest, bytes calldata signatures) external view returns (bytes4) {
        bytes32 domain = keccak256(abi.encode(DOMAIN_TYPEHASH, block.chainid, address(this)));
        bytes32 message = keccak256(abi.encode(MESSAGE_TYPEHASH, keccak256(abi.encode(digest))));
        bytes32 signed = keccak256(abi.encodePacked(hex"1901", domain, message));
        if (signatures.length < 65 * _threshold) return bytes4(0xffffffff);
        address last = address(0);
        for (uint256 i = 0; i < _threshold; i++) {
            (address signer,,) = ECDSA.tryRecoverCalldata(signed, signatures[65 * i:65 * i + 65]);
            if (signer <= last || !_isOwner(signer)) return bytes4(0xffffffff);
            last = signer;
        }
        return this.isValidSignature.selector;
    }

    function _isOwner(address account) private view returns (bool) {
        for (uint256 i = 0; i < _owners.length; i++) {
            if (_owners[i] == account) return true;
        }
        return false;
    }
}
