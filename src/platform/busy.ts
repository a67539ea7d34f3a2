/** Somebody else is at it: the job comes back in a moment, and what it has done so far is taken back. */
export class Busy extends Error {}

/** A transaction of the same organization holds what this one needs, and is over in a moment. */
export class InOtherHands extends Busy {}
