/** Another worker holds what the job needs: it is rolled back and comes back in a moment. */
export class Busy extends Error {}

/** A transaction of the same organization holds what this one needs, and is over in a moment. */
export class InOtherHands extends Busy {}
