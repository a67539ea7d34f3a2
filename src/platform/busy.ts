/** Another worker holds a lock that the job needs: the job is rolled back and comes back in a moment. */
export class Busy extends Error {}

/** A transaction of the same organization holds a lock that this one needs, and will end in a moment. */
export class InOtherHands extends Busy {}
