/*
 * The small twin of disbursement.qnt for SPIN, which visits every state: two agents, two jobs, two relayers, two nonces.
 *
 * Each option of `main` is the action of the same name in the other file, with the same guard and the same effect, except:
 * - There is no clock. A lease may end at any time, and the deadline of both payments passes at some time (`pass`). So `renew` and the
 *   invariant oneHolder are left out.
 * - Each agent draws a digest of its own. A job is claimed from the start, and leased at most LEASES times.
 * - `broadcast` is part of `store`: what is stored may be mined. A relayer that stops holding a signature keeps it, and may go on later.
 * - One crash of an agent or loss of a turn, one reorganisation.
 * - `recover`, and so a second place for a payload after a cancel, only when a nonce is left.
 */
/* Leases of each job; whether both batches are at the platform from the start; whether both relayers run. */
#ifndef LEASES
#define LEASES 2
#endif
#ifndef ARE_ACCEPTED
#define ARE_ACCEPTED 0
#endif
#ifndef RELAYERS
#define RELAYERS 2
#endif
#define CANCEL 2
#define NONE 3

/* Phases of a job, and states of submissions and rows. */
#define ACCEPTED 0
#define PROVED 1
#define RELEASED 2
#define DONE 3
#define FAILED 4
#define NEW 0
#define TAKEN 1
#define SENT 2
#define ENDED 3
#define ABSENT 0
#define OPEN 1
#define CLOSED 2
#define PAID 3

byte phase[2], fence[2], digest[2];
/* The work of agent a at key k is at 2a + k. */
byte workFence[4], workPhase[4];
bool covered[4];
byte turn = NONE, turnFor;
bool isDisturbed;
byte authorised[2], posted[2];
byte submission[2];
byte leader = NONE;
byte planNonce[2] = NONE, planKey[2], planCall[2];
bool planFirst[2], stale[2];
/* Row of a nonce and a call at 3n + call. */
byte row[6], ownerOf[2];
byte nonce, finalNonce, mined[2] = NONE;
bool paid[2], finalPaid[2], isLate, headLate, finalLate;
byte granted, taken, finalTaken;
bool grantedSinceFinal, hasCrashed, hasReorganised;
byte ended[2];
hidden byte a, k, r, n, w, call, i;

#define TOTAL(k) (k + 1)
#define ALLOWANCE (granted - taken)
#define IS_OVER(k) (finalPaid[k] || finalLate)
#define IS_DEAD(k) (finalLate && !finalPaid[k])
#define IS_OPEN(n) (row[3 * n] == OPEN || row[3 * n + 1] == OPEN || row[3 * n + CANCEL] == OPEN)
#define NEXT_NONCE (IS_OPEN(1) -> 2 : (IS_OPEN(0) -> (nonce > 1 -> nonce : 1) : nonce))
#define IS_SENT(k) (row[k] == OPEN || row[k] == PAID || row[3 + k] == OPEN || row[3 + k] == PAID || \
  (row[CANCEL] == OPEN && ownerOf[0] == k) || (row[5] == OPEN && ownerOf[1] == k))
#define MAY (FENCE_FAULT || fence[k] == workFence[w])
#ifndef FENCE_FAULT
#define FENCE_FAULT 0
#endif
#ifndef APPROVE_FAULT
#define APPROVE_FAULT 0
#endif
#ifndef LEADER_FAULT
#define LEADER_FAULT 0
#endif

/* A run ends. Its turn is free at once. */
inline stop() {
  workFence[w] = 0; workPhase[w] = 0; covered[w] = 0;
  if
  :: turn == a && turnFor == k ->
    turn = NONE; turnFor = 0;
    if :: !paid[k] && !IS_DEAD(k) -> isDisturbed = 1 :: else fi
  :: else
  fi
}
inline grant(value) { granted = value; taken = 0; grantedSinceFinal = 1 }
inline write(next) {
  if
  :: MAY ->
    /* newestFenceWrites */
    assert(workFence[w] == fence[k]);
    phase[k] = next;
    if
    :: next >= DONE -> if :: ended[k] == 0 -> ended[k] = next :: else fi; stop()
    :: else -> workPhase[w] = next
    fi
  :: else -> stop()
  fi
}

inline check() {
  i = 0;
  do
  :: i < 2 ->
    /* endIsKept, oneDigest, storedBeforeReleased */
    assert(ended[i] == 0 || phase[i] == ended[i]);
    assert(authorised[i] != 3);
    assert(posted[i] == 0 || (phase[i] >= RELEASED && posted[i] == digest[i]));
    /* onePayloadPerNonce: of the two payloads, at most one has a row at a nonce */
    assert(row[3 * i] == ABSENT || row[3 * i + 1] == ABSENT);
    /* oneNoncePerPayload */
    assert(row[i] != OPEN || row[3 + i] != OPEN);
    i++
  :: else -> break
  od;
  /* isBounded, isCovered, nothingLeft */
  assert(ALLOWANCE <= 2);
  assert(turn == NONE || isDisturbed || paid[turnFor] || !covered[2 * turn + turnFor] || ALLOWANCE >= TOTAL(turnFor));
  assert(phase[0] < DONE || phase[1] < DONE || ALLOWANCE == 0)
}

active proctype main() {
  d_step {
    if
    :: ARE_ACCEPTED ->
      phase[0] = RELEASED; phase[1] = RELEASED; digest[0] = 1; digest[1] = 1; authorised[0] = 1; authorised[1] = 1;
      posted[0] = 1; posted[1] = 1; submission[0] = TAKEN; submission[1] = TAKEN; granted = 2; isDisturbed = 1
    :: else
    fi
  }
  do
  :: atomic {
    if :: a = 0 :: a = 1 fi;
    if :: k = 0 :: k = 1 fi;
    w = 2 * a + k;
    if
    /* lease */
    :: phase[k] < DONE && fence[k] < LEASES ->
      stop(); fence[k]++; workFence[w] = fence[k]; workPhase[w] = phase[k]
    /* handBack: the next lease raises the fence */
    :: workFence[w] > 0 -> stop()
    /* prove */
    :: workFence[w] > 0 && workPhase[w] == ACCEPTED ->
      if :: MAY && digest[k] == 0 -> digest[k] = a + 1 :: else fi;
      write(PROVED)
    /* sign */
    :: workFence[w] > 0 && workPhase[w] == PROVED && (authorised[k] & digest[k]) == 0 ->
      authorised[k] = authorised[k] | digest[k]
    /* takeTurn */
    :: turn == NONE && workFence[w] > 0 && (workPhase[w] == PROVED || workPhase[w] == RELEASED) && !paid[k] && !IS_OVER(k) &&
        (submission[k] == NEW || submission[k] == ENDED) ->
      turn = a; turnFor = k; covered[w] = 0
    /* approve */
    :: turn == a && turnFor == k && !covered[w] ->
      if
      :: APPROVE_FAULT || fence[k] == workFence[w] ->
        covered[w] = 1;
        if :: ALLOWANCE < TOTAL(k) && !paid[k] -> grant(TOTAL(k)) :: else fi
      :: else -> stop()
      fi
    /* endTurn */
    :: turn == a && turnFor == k && (paid[k] || IS_OVER(k)) -> turn = NONE; turnFor = 0
    /* release */
    :: workFence[w] > 0 && workPhase[w] == PROVED && (authorised[k] & digest[k]) > 0 && covered[w] -> write(RELEASED)
    /* post and accept */
    :: workFence[w] > 0 && workPhase[w] == RELEASED && (submission[k] == NEW || (submission[k] == ENDED && !IS_OVER(k))) ->
      posted[k] = digest[k]; submission[k] = TAKEN
    /* takeBack */
    :: turn == NONE && workFence[w] > 0 && IS_DEAD(k) && ALLOWANCE > 0 -> isDisturbed = 1; grant(0)
    /* finish */
    :: workFence[w] > 0 && IS_OVER(k) && (finalPaid[k] || ALLOWANCE == 0) ->
      if :: finalPaid[k] -> write(DONE) :: else -> write(FAILED) fi
    /* crashAgent */
    :: k == 0 && !hasCrashed ->
      hasCrashed = 1; stop(); k = 1; w = 2 * a + 1; stop()
    /* loseTurn */
    :: turn == a && turnFor == k && !hasCrashed -> hasCrashed = 1; turn = NONE; turnFor = 0; isDisturbed = 1
    :: else
    fi;
    check(); a = 0; k = 0; w = 0; i = 0
  }
  :: atomic {
    if :: r = 0 :: RELAYERS == 2 -> r = 1 fi;
    if :: k = 0 :: k = 1 fi;
    if :: n = 0 :: n = 1 fi;
    if
    /* lead: what the other one has signed becomes stale, if its signature is still out */
    :: k == 0 && n == 0 && leader != r ->
      leader = r; stale[1 - r] = planNonce[1 - r] != NONE;
      planNonce[r] = NONE; planKey[r] = 0; planCall[r] = 0; planFirst[r] = 0; stale[r] = 0
    /* signFirst */
    :: n == 0 && leader == r && planNonce[r] == NONE && submission[k] == TAKEN && !paid[k] && !IS_DEAD(k) && NEXT_NONCE < 2 ->
      planNonce[r] = NEXT_NONCE; planKey[r] = k; planCall[r] = k; planFirst[r] = 1
    /* signReplacement */
    :: leader == r && planNonce[r] == NONE && nonce == n && IS_OPEN(n) && ownerOf[n] == k ->
      planNonce[r] = n; planKey[r] = k; planFirst[r] = 0;
      if :: IS_OVER(k) -> planCall[r] = CANCEL :: else -> planCall[r] = k fi
    /* store */
    :: n == 0 && k == 0 && planNonce[r] != NONE ->
      if
      :: (stale[r] && !LEADER_FAULT) || (planFirst[r] && submission[planKey[r]] != TAKEN)
      :: else ->
        row[3 * planNonce[r] + planCall[r]] = OPEN; ownerOf[planNonce[r]] = planKey[r];
        if :: planFirst[r] -> submission[planKey[r]] = SENT :: else fi
      fi;
      planNonce[r] = NONE; planKey[r] = 0; planCall[r] = 0; planFirst[r] = 0; stale[r] = 0
    /* record */
    :: leader == r && k == 0 && planNonce[r] == NONE && n < finalNonce && IS_OPEN(n) ->
      call = mined[n]; i = 0;
      do
      :: i < 3 -> if :: row[3 * n + i] == OPEN -> row[3 * n + i] = CLOSED :: else fi; i++
      :: else -> break
      od;
      if
      :: call < CANCEL && finalPaid[call] -> row[3 * n + call] = PAID; submission[call] = ENDED
      :: call < CANCEL && !finalPaid[call] -> submission[call] = ENDED
      :: else
      fi
    /* recover, expire */
    :: leader == r && n == 0 && submission[k] == SENT && !paid[k] && !IS_SENT(k) -> submission[k] = TAKEN
    :: leader == r && n == 0 && submission[k] == TAKEN && !paid[k] && IS_DEAD(k) -> submission[k] = ENDED
    :: else
    fi;
    check(); r = 0; k = 0; n = 0; call = 0; i = 0
  }
  :: atomic {
    if :: call = 0 :: call = 1 :: call = CANCEL fi;
    if
    /* mine: bytes that were stored once may be mined as long as their nonce is free */
    :: nonce < 2 && row[3 * nonce + call] != ABSENT ->
      mined[nonce] = call; nonce++; headLate = isLate;
      if
      :: call < CANCEL && !isLate && !paid[call] && ALLOWANCE >= TOTAL(call) ->
        /* paidOnce */
        assert(!paid[call]);
        paid[call] = 1; taken = taken + TOTAL(call)
      :: else
      fi
    /* finalise */
    :: call == 0 && (nonce != finalNonce || grantedSinceFinal || isLate != finalLate || taken != finalTaken) ->
      finalNonce = nonce; finalLate = isLate; headLate = isLate; finalTaken = taken; grantedSinceFinal = 0;
      finalPaid[0] = paid[0]; finalPaid[1] = paid[1]
    /* reorganise */
    :: call == 0 && !hasReorganised && nonce != finalNonce ->
      hasReorganised = 1; isDisturbed = 1; nonce = finalNonce; paid[0] = finalPaid[0]; paid[1] = finalPaid[1]; headLate = finalLate;
      if :: grantedSinceFinal -> taken = 0 :: else -> taken = finalTaken fi;
      if :: nonce < 2 -> mined[1] = NONE :: else fi;
      if :: nonce < 1 -> mined[0] = NONE :: else fi
    /* pass */
    :: call == 0 && !isLate -> isLate = 1
    :: else
    fi;
    check(); call = 0; i = 0
  }
  od
}
