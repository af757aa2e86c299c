/*
 * The small twin of disbursement.qnt for SPIN, which visits every state: two agents, two jobs, two relayers and two nonces, with any number
 * of leases, crashes, lost turns, changes of the leader and reorganisations.
 *
 * Each option of a process below is the action of the same name in the other file, with the same guard and the same effect, except:
 * - There is no clock. A lease may end at any time, and the deadline of both payments passes at some time (`pass`). So `renew` and the
 *   invariant oneHolder are left out.
 * - Jobs are claimed from the start. The first digest of a job is 1, another one 2: digests are only compared.
 * - `broadcast` is part of `store`: what is stored may be mined. A relayer that another one replaced may sign at any time.
 * - `handBack` is also `crashAgent`, once for each job of the agent. `lead` twice is also `crashRelayer`.
 * - A payload is signed only while one of the two nonces is left.
 *
 * These make the states fewer. Each state that is left stands for states that do the same from there on:
 * - A fence is the newest one of its job or not. `held` says which: nobody compares more.
 * - A chain's approvals are two numbers: the allowance now, and the one that a reorganisation would leave.
 * - The time of the newest block is left out: nobody reads it. A row is not "succeeded" but closed: a final payment bars `recover` anyway.
 * - Relayers are alike: the one that leads is 0. Agents are alike: `reduce` puts them in the order of what they do.
 * - `reduce` clears what nobody reads again. The reason is beside each line. It comes after `check`.
 * Nothing else is left out: states are stored whole, so that two are never taken for one.
 */
#define FENCE_FAULT 1 /* fault: a write without its fence */
#define APPROVE_FAULT 2 /* fault: an approval without its fence */
#define LEADER_FAULT 3 /* fault: a relayer that stores without asking whether another one leads */
#define RELEASE_FAULT 4 /* fault: an authorisation that leaves before its release is stored */
#define NONCE_FAULT 5 /* fault: a nonce from the count of the chain, which a new payload uses again */
#define BESIDE_FAULT 6 /* fault: a replacement at the next nonce */
#define DIGEST_FAULT 7 /* fault: a content that is drawn again for each proof */
#define TURN_FAULT 8 /* fault: a turn that two batches have */
#define END_TURN_FAULT 9 /* fault: a turn that ends before a block has the batch */
#define EXCESS_FAULT 10 /* fault: an approval of more than the batch */
#define TAKE_BACK_FAULT 11 /* fault: an unpaid job that leaves its approval */
#define SUBMIT_FAULT 12 /* fault: a submission that stays accepted when it is sent */
#define FINAL_FAULT 13 /* fault: a job that ends before its payment is final */
#define CLAIM_FAULT 14 /* fault: a lease that begins a failed job again */
#ifndef FAULT
#define FAULT 0
#endif

#define CANCEL 2
#define NONE 3
/* Phases of a job; states of submissions, of rows, and of a worker's fence. */
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
#define STALE 1
#define NEWEST 2

byte phase[2], ended[2], digest[2], authorised[2], posted[2];
/* The work of agent a at key k is at 2a + k. */
byte held[4], workPhase[4];
bool covered[4];
byte turn = NONE, turnFor;
bool isDisturbed;
byte submission[2];
/* What a relayer has signed and not stored. */
byte planNonce[2] = NONE, planKey[2], planCall[2];
bool planFirst[2];
/* Row of a nonce and a call at 3n + call. */
byte row[6], ownerOf[2];
byte nonce, finalNonce, mined[2] = NONE;
bool paid[2], finalPaid[2], isLate, finalLate;
byte allowance, finalAllowance;
/* Not in a state. */
hidden byte i, j, value;
hidden int x, y;

#define TOTAL(k) (k + 1)
#define IS_OVER(k) (finalPaid[k] || finalLate)
#define IS_DEAD(k) (finalLate && !finalPaid[k])
#define IS_OPEN(n) (row[3 * (n)] == OPEN || row[3 * (n) + 1] == OPEN || row[3 * (n) + CANCEL] == OPEN)
#define NEXT_NONCE (FAULT == NONCE_FAULT -> nonce : (IS_OPEN(1) -> 2 : (IS_OPEN(0) -> (nonce > 1 -> nonce : 1) : nonce)))
#define IS_SENT(k) (row[k] == OPEN || row[3 + k] == OPEN || \
  (row[CANCEL] == OPEN && ownerOf[0] == k) || (row[3 + CANCEL] == OPEN && ownerOf[1] == k))
#define MAY(w) (FAULT == FENCE_FAULT || held[w] == NEWEST)
#define HAS_TURN(a, k) (turn == a && turnFor == k)

/* A run ends. Its turn is free at once. */
inline stop(a, k) {
  held[2 * a + k] = 0; workPhase[2 * a + k] = 0; covered[2 * a + k] = 0;
  if
  :: HAS_TURN(a, k) ->
    turn = NONE; turnFor = 0;
    if :: !paid[k] && !IS_DEAD(k) -> isDisturbed = 1 :: else fi
  :: else
  fi
}
/* A reorganised chain has the approval again before the payments. */
inline grant(amount) { allowance = amount; finalAllowance = amount }
inline write(a, k, to) {
  if
  :: MAY(2 * a + k) ->
    /* newestFenceWrites */
    assert(held[2 * a + k] == NEWEST);
    phase[k] = to;
    if
    :: to >= DONE -> if :: ended[k] == 0 -> ended[k] = to :: else fi; stop(a, k)
    :: else -> workPhase[2 * a + k] = to
    fi
  :: else -> stop(a, k)
  fi
}
inline plan(r, n, k, c, isFirst) { planNonce[r] = n; planKey[r] = k; planCall[r] = c; planFirst[r] = isFirst }

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
  assert(allowance <= 2);
  assert(turn == NONE || isDisturbed || paid[turnFor] || !covered[2 * turn + turnFor] || allowance >= TOTAL(turnFor));
  assert(phase[0] < DONE || phase[1] < DONE || allowance == 0)
}

#define IS_PLANNED(n) (planNonce[0] == n || planNonce[1] == n)
#define IS_FIRST_OUT(k) ((planFirst[0] && planKey[0] == k) || (planFirst[1] && planKey[1] == k))
#define WORK_CODE(w) ((held[w] * 3 + workPhase[w]) * 2 + covered[w])
#define CODE(a) ((WORK_CODE(2 * a) * 18 + WORK_CODE(2 * a + 1)) * 3 + (turn == a) * (1 + turnFor))
#define SWAP(array) value = array[i]; array[i] = array[2 + i]; array[2 + i] = value

inline reduce() {
  i = 0;
  do
  :: i < 2 ->
    if
    /* A nonce in a final block has no open row, and nobody will store one: what its rows were is past. */
    :: i < finalNonce && !IS_PLANNED(i) && !IS_OPEN(i) ->
      row[3 * i] = ABSENT; row[3 * i + 1] = ABSENT; row[3 * i + CANCEL] = ABSENT; ownerOf[i] = 0; mined[i] = NONE
    /* `record` closes its rows at once: one of them says that they are open. */
    :: i < finalNonce && !IS_PLANNED(i) && row[3 * i + ownerOf[i]] == OPEN -> row[3 * i + CANCEL] = ABSENT
    :: else
    fi;
    /* Nobody signs or takes a turn for a payment that is over: only a signature that is out reads its submission. */
    if :: IS_OVER(i) && !IS_FIRST_OUT(i) -> submission[i] = ENDED :: else fi;
    j = 0;
    do
    :: j < 2 ->
      x = 2 * j + i;
      if
      :: held[x] && !HAS_TURN(j, i) ->
        /* Only `release` reads it outside a turn. A release that is refused is a `handBack`. */
        if :: !MAY(x) || workPhase[x] == RELEASED -> covered[x] = 0 :: else fi;
        /* With an old fence, and nothing to sign or post, it takes back an allowance or stops. After a payment it stops. */
        if
        :: !MAY(x) && IS_OVER(i) && (workPhase[x] != PROVED || (authorised[i] & digest[i]) > 0) &&
            (workPhase[x] != RELEASED || posted[i] > 0) ->
          workPhase[x] = 0;
          if :: finalPaid[i] -> held[x] = 0 :: else fi
        :: else
        fi
      :: else
      fi;
      j++
    :: else -> break
    od;
    /* Nobody works on an ended job, and nobody can lease it. Its submission is over: `accept` has no use. */
    if
    :: phase[i] >= DONE && IS_OVER(i) && FAULT != CLAIM_FAULT && held[i] == 0 && held[2 + i] == 0 ->
      phase[i] = DONE; ended[i] = DONE; digest[i] = 0; authorised[i] = 0; posted[i] = 0
    :: else
    fi;
    i++
  :: else -> break
  od;
  /* After both payments no deadline matters. */
  if :: finalPaid[0] && finalPaid[1] -> isLate = 1; finalLate = 1 :: else fi;
  /* There will be no turn. */
  if :: turn == NONE && IS_OVER(0) && IS_OVER(1) -> isDisturbed = 0 :: else fi;
  x = CODE(0); y = CODE(1);
  if
  :: x < y ->
    i = 0;
    do
    :: i < 2 -> SWAP(held); SWAP(workPhase); SWAP(covered); i++
    :: else -> break
    od;
    if :: turn != NONE -> turn = 1 - turn :: else fi
  :: else
  fi
}
inline end() { check(); reduce(); i = 0 }

/* Agent a at key k. */
#define a (_pid / 2)
#define k (_pid % 2)
#define w _pid
#define WORKS (held[w] > 0)
active [4] proctype agent() {
  do
  /* lease */
  :: d_step { phase[k] < DONE || (FAULT == CLAIM_FAULT && phase[k] == FAILED) ->
      if :: phase[k] == FAILED -> phase[k] = ACCEPTED :: else fi;
      if :: held[2 * (1 - a) + k] -> held[2 * (1 - a) + k] = STALE :: else fi;
      held[w] = NEWEST; workPhase[w] = phase[k]; covered[w] = 0; end() }
  /* handBack: the next lease raises the fence */
  :: d_step { WORKS -> stop(a, k); end() }
  /* prove */
  :: d_step { WORKS && workPhase[w] <= PROVED ->
      if :: MAY(w) && (digest[k] == 0 || FAULT == DIGEST_FAULT) -> digest[k] = (digest[k] == 0 -> 1 : 2) :: else fi;
      write(a, k, PROVED); end() }
  /* sign */
  :: d_step { WORKS && workPhase[w] == PROVED && (authorised[k] & digest[k]) == 0 -> authorised[k] = authorised[k] | digest[k]; end() }
  /* release */
  :: d_step { WORKS && workPhase[w] == PROVED && (authorised[k] & digest[k]) > 0 && covered[w] -> write(a, k, RELEASED); end() }
  /* post */
  :: d_step { WORKS && (workPhase[w] == RELEASED || (FAULT == RELEASE_FAULT && workPhase[w] == PROVED)) -> posted[k] = digest[k]; end() }
  /* finish */
  :: d_step { WORKS && (IS_OVER(k) || (FAULT == FINAL_FAULT && paid[k])) &&
        (finalPaid[k] || allowance == 0 || FAULT == TAKE_BACK_FAULT || (FAULT == FINAL_FAULT && paid[k])) ->
      value = (IS_DEAD(k) -> FAILED : DONE);
      write(a, k, value); end() }
  /* takeTurn */
  :: d_step { (turn == NONE || FAULT == TURN_FAULT) && WORKS && (workPhase[w] == PROVED || workPhase[w] == RELEASED) &&
        !paid[k] && !IS_OVER(k) && (submission[k] == NEW || submission[k] == ENDED) ->
      turn = a; turnFor = k; covered[w] = 0; end() }
  /* approve */
  :: d_step { HAS_TURN(a, k) && !covered[w] ->
      if
      :: MAY(w) || FAULT == APPROVE_FAULT ->
        covered[w] = 1;
        if :: allowance < TOTAL(k) && !paid[k] -> grant(TOTAL(k) + (FAULT == EXCESS_FAULT)) :: else fi
      :: else -> stop(a, k)
      fi; end() }
  /* endTurn */
  :: d_step { HAS_TURN(a, k) && (paid[k] || IS_OVER(k) || FAULT == END_TURN_FAULT) -> turn = NONE; turnFor = 0; end() }
  /* loseTurn */
  :: d_step { HAS_TURN(a, k) -> turn = NONE; turnFor = 0; isDisturbed = 1; end() }
  /* takeBack */
  :: d_step { turn == NONE && WORKS && IS_DEAD(k) && allowance > 0 -> isDisturbed = 1; grant(0); end() }
  od
}
#undef a
#undef k

/* Relayer r, for key or nonce k. */
#define r ((_pid - 4) / 2)
#define k (_pid % 2)
active [4] proctype platform() {
  do
  /* accept */
  :: d_step { r == 0 && posted[k] > 0 && (submission[k] == NEW || (submission[k] == ENDED && !IS_OVER(k))) -> submission[k] = TAKEN; end() }
  /* lead: the one before keeps what it has signed */
  :: d_step { r == 1 && k == 0 && (planNonce[0] != NONE || planNonce[1] != NONE) ->
      plan(1, planNonce[0], planKey[0], planCall[0], planFirst[0]); plan(0, NONE, 0, 0, 0); end() }
  /* signFirst */
  :: d_step { planNonce[r] == NONE && submission[k] == TAKEN && !paid[k] && !IS_DEAD(k) && NEXT_NONCE < 2 ->
      value = NEXT_NONCE;
      plan(r, value, k, k, 1); end() }
  /* signReplacement */
  :: d_step { planNonce[r] == NONE && nonce == k && IS_OPEN(k) && (FAULT != BESIDE_FAULT || NEXT_NONCE < 2) ->
      value = (FAULT == BESIDE_FAULT -> NEXT_NONCE : k); j = (IS_OVER(ownerOf[k]) -> CANCEL : ownerOf[k]);
      plan(r, value, ownerOf[k], j, 0); end() }
  /* store */
  :: d_step { k == 0 && planNonce[r] != NONE ->
      if
      :: (r == 1 && FAULT != LEADER_FAULT) || (planFirst[r] && submission[planKey[r]] != TAKEN)
      :: else ->
        row[3 * planNonce[r] + planCall[r]] = OPEN; ownerOf[planNonce[r]] = planKey[r];
        if :: planFirst[r] && FAULT != SUBMIT_FAULT -> submission[planKey[r]] = SENT :: else fi
      fi;
      plan(r, NONE, 0, 0, 0); end() }
  /* record */
  :: d_step { r == 0 && planNonce[0] == NONE && k < finalNonce && IS_OPEN(k) ->
      i = 0;
      do
      :: i < 3 -> if :: row[3 * k + i] == OPEN -> row[3 * k + i] = CLOSED :: else fi; i++
      :: else -> break
      od;
      if :: mined[k] < CANCEL -> submission[mined[k]] = ENDED :: else fi;
      end() }
  /* recover */
  :: d_step { r == 0 && submission[k] == SENT && !paid[k] && !IS_SENT(k) -> submission[k] = TAKEN; end() }
  /* expire */
  :: d_step { r == 0 && submission[k] == TAKEN && !paid[k] && IS_DEAD(k) -> submission[k] = ENDED; end() }
  od
}
#undef r
#undef k

#define call (_pid - 8)
active [3] proctype chain() {
  do
  /* mine: bytes that were stored once may be mined as long as their nonce is free; the contract pays a key once (paidOnce) */
  :: d_step { nonce < 2 && row[3 * nonce + call] != ABSENT ->
      mined[nonce] = call; nonce++;
      if
      :: call < CANCEL && !isLate && !paid[call] && allowance >= TOTAL(call) -> paid[call] = 1; allowance = allowance - TOTAL(call)
      :: else
      fi; end() }
  /* finalise */
  :: d_step { call == 0 && (nonce != finalNonce || allowance != finalAllowance || isLate != finalLate) ->
      finalNonce = nonce; finalLate = isLate; finalAllowance = allowance; finalPaid[0] = paid[0]; finalPaid[1] = paid[1]; end() }
  /* reorganise */
  :: d_step { call == 0 && nonce != finalNonce ->
      isDisturbed = 1; nonce = finalNonce; paid[0] = finalPaid[0]; paid[1] = finalPaid[1]; allowance = finalAllowance;
      mined[1] = NONE;
      if :: nonce == 0 -> mined[0] = NONE :: else fi;
      end() }
  /* pass */
  :: d_step { call == 0 && !isLate -> isLate = 1; end() }
  od
}
