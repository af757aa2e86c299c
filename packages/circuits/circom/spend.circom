// SPDX-License-Identifier: MIT
// Theorem: the spend behind (D, y at z) consumes notes of one asset that the wallet behind W' owns and that are in the note
// tree, creates O well-formed notes of that asset, and the amounts in and out balance, withdrawAmount included. Every created
// note with an amount, except the change, belongs to an eligible wallet. W' is the wallet's key plus a multiple of G that the
// prover knows, and m' is the digest of exactly this operation, shifted to match (protocol §6, spend-IxO; §7).
//
// PARAMETER I, O      inputs; outputs, a power of two. Output 0 is the change
//           LEVELS    longest path of a note: 32
//           WINDOWS   bytes of the blinding b: 31
//           TAG       of the operation, different for each shape, so a signature for one circuit is useless in another
//
// PUBLIC   D   HC(TAG_D_SPEND; opHash, noteRoot, eligibilityRoot, W'xLo, W'xHi, W'yLo, W'yHi, m'Lo, m'Hi, rLo, rHi) with
//              opHash = HC(TAG; assetId, withdrawAmount, recipient, deadline, sealedLo, sealedHi, outRoot, nf_0 ... nf_{I-1}):
//              binds every element of x, the output commitments through outRoot
//          z   the verifier's challenge, keccak256(D, x) mod r
//          y   Horner of x at z, with
//              x = (assetId, withdrawAmount, recipient, deadline, sealedLo, sealedHi, outRoot, nf_0 ... nf_{I-1},
//              cOut_0 ... cOut_{O-1}, noteRoot, eligibilityRoot, W'xLo, W'xHi, W'yLo, W'yHi, m'Lo, m'Hi, rLo, rHi).
//              The contract makes assetId and all halves itself, and checks that (rSig, s) is a signature of m' under W'
// PRIVATE  assetId, withdrawAmount, recipient, deadline, sealedLo, sealedHi, noteRoot, eligibilityRoot, rLo, rHi   as in x
//          wxLo, wxHi, wyLo, wyHi          halves of the coordinates of W
//          viewingKey                      v, 1 <= v < l. All inputs share it
//          salt                            of the operation's digest; as secret as W
//          blindingBits[8 WINDOWS]         digits of b, least significant first
//          inputEnabled[I]                 1 for a note, 0 for a dummy; 1 in input 0
//          inputAmounts[I]                 base units, each below 2^128; 0 in dummies
//          inputNonces[I]                  of the notes; fresh random field elements in dummies
//          inputDepths[I]                  levels of each note's path, 1 ... LEVELS; any of them in dummies
//          inputIndices[I]                 directions of each path, below 2^LEVELS
//          inputSiblings[I][LEVELS]        its siblings, lowest first; free from the depth on, and in dummies
//          secret                          random field element, known to the spender alone
//          changeAmount, changePx, changePy   the change: base units below 2^128, and its encryption key
//          amounts[O-1], walletIds[O-1], px[O-1], py[O-1]   notes of outputs 1 ... O-1; amount 0 in dummies
//          leafIndices[O-1], siblings[O-1][10][3]           eligibility path of walletIds[i]; free in dummies
pragma circom 2.2.0;

include "generated/spend-tags.circom";
include "poseidon.circom";
include "bits.circom";
include "trees.circom";
include "compression.circom";
include "funding-note.circom";
include "chain-hash.circom";
include "note-path.circom";
include "baby-jubjub.circom";
include "hidden-signer.circom";

template Spend(I, O, LEVELS, WINDOWS, TAG) {
    // The declaration order of D, z, y is their order among the public signals.
    signal input D;
    signal input z;
    signal input y;

    signal input assetId;
    signal input withdrawAmount;
    signal input recipient;
    signal input deadline;
    signal input sealedLo;
    signal input sealedHi;
    signal input noteRoot;
    signal input eligibilityRoot;
    signal input rLo;
    signal input rHi;
    signal input wxLo;
    signal input wxHi;
    signal input wyLo;
    signal input wyHi;
    signal input viewingKey;
    signal input salt;
    signal input blindingBits[8 * WINDOWS];
    signal input inputEnabled[I];
    signal input inputAmounts[I];
    signal input inputNonces[I];
    signal input inputDepths[I];
    signal input inputIndices[I];
    signal input inputSiblings[I][LEVELS];
    signal input secret;
    signal input changeAmount;
    signal input changePx;
    signal input changePy;
    signal input amounts[O - 1];
    signal input walletIds[O - 1];
    signal input px[O - 1];
    signal input py[O - 1];
    signal input leafIndices[O - 1];
    signal input siblings[O - 1][10][3];

    // 1. w from W, and P from v. The hidden signer (step 9) makes the halves of W canonical, so W has one w. 1 <= v < l
    //    gives every P one v: with a second one, a note would have a second nullifier.
    component wallet = Poseidon(5);
    wallet.inputs[0] <== TAG_WALLET();
    wallet.inputs[1] <== wxLo;
    wallet.inputs[2] <== wxHi;
    wallet.inputs[3] <== wyLo;
    wallet.inputs[4] <== wyHi;
    component owner = MultiplyBasePoint();
    owner.scalar <== viewingKey;

    // 2. Each input is a note of (w, P) in the tree, or a dummy of amount 0. Input 0 is a note, so only a holder of a note
    //    can insert leaves. A dummy's nullifier has another tag, so it is the nullifier of no note.
    //    The amounts of notes are below 2^128 because every leaf of the tree was made by a circuit that checks that. They
    //    are checked again, so that this circuit's sum does not depend on it.
    component ranges[I];
    component nullifiers[I];
    component notes[I];
    component paths[I];
    var spent = 0;
    for (var j = 0; j < I; j++) {
        inputEnabled[j] * (inputEnabled[j] - 1) === 0;
        (1 - inputEnabled[j]) * inputAmounts[j] === 0;
        ranges[j] = ToBits(128);
        ranges[j].value <== inputAmounts[j];

        nullifiers[j] = Poseidon(5);
        nullifiers[j].inputs[0] <== inputEnabled[j] * (TAG_NULLIFIER() - TAG_DUMMY()) + TAG_DUMMY();
        nullifiers[j].inputs[1] <== assetId;
        nullifiers[j].inputs[2] <== inputNonces[j];
        nullifiers[j].inputs[3] <== viewingKey;
        nullifiers[j].inputs[4] <== wallet.out;

        notes[j] = Poseidon(6);
        notes[j].inputs[0] <== assetId;
        notes[j].inputs[1] <== inputAmounts[j];
        notes[j].inputs[2] <== inputNonces[j];
        notes[j].inputs[3] <== wallet.out;
        notes[j].inputs[4] <== owner.px;
        notes[j].inputs[5] <== owner.py;

        paths[j] = NotePath(LEVELS);
        paths[j].leaf <== notes[j].out;
        paths[j].depth <== inputDepths[j];
        paths[j].index <== inputIndices[j];
        paths[j].siblings <== inputSiblings[j];
        inputEnabled[j] * (paths[j].root - noteRoot) === 0;
        spent = spent + inputAmounts[j];
    }
    inputEnabled[0] === 1;

    // 3. Nonces of the outputs: H_1(base + i) with a base that contains nf_0. The contract accepts nf_0 once, so the nonces
    //    of two spends differ, and base + i are different field elements within one. `secret` keeps a payee, who knows its
    //    own nonce, from finding its neighbours'.
    component base = Poseidon(3);
    base.inputs[0] <== TAG_SPEND_BASE();
    base.inputs[1] <== nullifiers[0].out;
    base.inputs[2] <== secret;
    component nonces[O];
    for (var i = 0; i < O; i++) {
        nonces[i] = Poseidon(1);
        nonces[i].inputs[0] <== base.out + i;
    }

    // 4. Output 0, the change: same w, whatever its amount, so no other wallet is paid without eligibility. Its P is free.
    component changeRange = ToBits(128);
    changeRange.value <== changeAmount;
    component change = Poseidon(6);
    change.inputs[0] <== assetId;
    change.inputs[1] <== changeAmount;
    change.inputs[2] <== nonces[0].out;
    change.inputs[3] <== wallet.out;
    change.inputs[4] <== changePx;
    change.inputs[5] <== changePy;

    // 5. The other outputs are built like those of fund-N. Under eligibilityRoot 0 they have amount 0: a path ends in a
    //    Poseidon output, and no known input gives 0. So a send needs no gate.
    component outputs[O - 1];
    var created = changeAmount;
    for (var i = 0; i < O - 1; i++) {
        outputs[i] = FundingNote();
        outputs[i].assetId <== assetId;
        outputs[i].eligibilityRoot <== eligibilityRoot;
        outputs[i].amount <== amounts[i];
        outputs[i].nonce <== nonces[i + 1].out;
        outputs[i].walletId <== walletIds[i];
        outputs[i].px <== px[i];
        outputs[i].py <== py[i];
        outputs[i].leafIndex <== leafIndices[i];
        outputs[i].siblings <== siblings[i];
        created = created + amounts[i];
    }

    // 6. The amounts balance. Every term is below 2^128, and neither side has more than 17 of them, so both are integers
    //    below 2^133, far from r.
    component withdrawRange = ToBits(128);
    withdrawRange.value <== withdrawAmount;
    spent === created + withdrawAmount;

    // 7. The root of the outputs, in slot order.
    component out = BinaryRoot(O);
    out.leaves[0] <== change.out;
    for (var i = 1; i < O; i++) {
        out.leaves[i] <== outputs[i - 1].commitment;
    }

    // 8. The operation, and m, its salted digest.
    component operation = ChainHash(7 + I, TAG);
    operation.values[0] <== assetId;
    operation.values[1] <== withdrawAmount;
    operation.values[2] <== recipient;
    operation.values[3] <== deadline;
    operation.values[4] <== sealedLo;
    operation.values[5] <== sealedHi;
    operation.values[6] <== out.root;
    for (var j = 0; j < I; j++) {
        operation.values[7 + j] <== nullifiers[j].out;
    }
    component message = Poseidon(3);
    message.inputs[0] <== TAG_OPERATION();
    message.inputs[1] <== operation.out;
    message.inputs[2] <== salt;

    // 9. W' and m' hide the signer W and its digest m. (rSig, s) signs m under W if and only if it signs m' under W'.
    component signer = HiddenSigner(WINDOWS);
    signer.wxLo <== wxLo;
    signer.wxHi <== wxHi;
    signer.wyLo <== wyLo;
    signer.wyHi <== wyHi;
    signer.m <== message.out;
    signer.bBits <== blindingBits;
    signer.rLo <== rLo;
    signer.rHi <== rHi;

    // 10. D binds x: through opHash everything before the commitments, through outRoot (in opHash) these, the rest directly.
    component digest = ChainHash(11, TAG_D_SPEND());
    digest.values[0] <== operation.out;
    digest.values[1] <== noteRoot;
    digest.values[2] <== eligibilityRoot;
    digest.values[3] <== signer.wpxLo;
    digest.values[4] <== signer.wpxHi;
    digest.values[5] <== signer.wpyLo;
    digest.values[6] <== signer.wpyHi;
    digest.values[7] <== signer.mpLo;
    digest.values[8] <== signer.mpHi;
    digest.values[9] <== rLo;
    digest.values[10] <== rHi;
    D === digest.out;

    // 11. y is the same x at the verifier's z.
    component horner = Horner(17 + I + O);
    horner.z <== z;
    for (var i = 0; i < 7 + I; i++) {
        horner.x[i] <== operation.values[i];
    }
    for (var i = 0; i < O; i++) {
        horner.x[7 + I + i] <== out.leaves[i];
    }
    for (var i = 0; i < 10; i++) {
        horner.x[7 + I + O + i] <== digest.values[1 + i];
    }
    y === horner.y;
}
