/** How many bytes a line, a row or an element of a list may have. */
export const PIECE_MAX_BYTES = 1024 * 1024;

/** Where reading goes on in what an object unpacks to. */
export interface Place {
  /** Bytes before it. */
  offset: number;
  /** How many pieces lie before it. */
  line: number;
  /** Of a file in CSV its header row, once it was read. */
  columns?: string[];
  /** Whether nothing is left. */
  isEnd?: true;
}

/** A line, a row or an element of a list, and the place behind it. */
export interface Piece {
  bytes: Uint8Array;
  /** What is wrong, if it cannot be a message. */
  refused?: string;
  next: Place;
}

/** The content of an object is wrong, so that it cannot be read to its end. */
export class BadObject extends Error {
  readonly code: 'invalid_json' | 'payload_too_large' | 'unsupported_format';
  /** Whether another attempt could change nothing. */
  readonly isFinal: boolean;

  constructor(code: BadObject['code'], message: string, { isFinal = false, cause }: ErrorOptions & BadOptions = {}) {
    super(message, { cause });
    this.code = code;
    this.isFinal = isFinal;
  }
}

interface BadOptions {
  isFinal?: boolean;
}
