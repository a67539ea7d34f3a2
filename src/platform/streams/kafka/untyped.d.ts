declare module 'lz4js' {
  const lz4: {
    /** The most bytes that a frame can unpack to. */
    decompressBound(packed: Uint8Array): number;
    decompress(packed: Uint8Array, most: number): Uint8Array;
    compress(bytes: Uint8Array): Uint8Array;
  };
  export default lz4;
}

declare module 'snappyjs' {
  const snappy: {
    uncompress(packed: Uint8Array, most?: number): Uint8Array;
    compress(bytes: Uint8Array): Uint8Array;
  };
  export default snappy;
}
