declare module 'lz4js' {
  const lz4: { decompress(packed: Uint8Array): Uint8Array; compress(bytes: Uint8Array): Uint8Array };
  export default lz4;
}

declare module 'snappyjs' {
  const snappy: { uncompress(packed: Uint8Array): Uint8Array; compress(bytes: Uint8Array): Uint8Array };
  export default snappy;
}
