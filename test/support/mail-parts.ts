/** A part of a mail that holds no other parts. */
export interface MailPart {
  type: string;
  /** Name of an attached file. */
  fileName: string | null;
  content: Buffer;
  text: string;
}

/** The parts of a received mail in their order, whatever they are nested in. */
export function partsOf(data: string): MailPart[] {
  const end = data.indexOf('\r\n\r\n');
  const head = data.slice(0, end).replace(/\r\n[ \t]+/g, ' ');
  const body = data.slice(end + 4);
  const header = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'im').exec(head)?.[1] ?? '';
  const contentType = header('Content-Type');
  const boundary = /boundary="?([^";]+)"?/.exec(contentType)?.[1];
  if (boundary !== undefined) {
    const pieces = body.split(`--${boundary}`);
    if (pieces.at(-1)!.trim() !== '--') throw new Error('the mail ends in the middle of a part');
    return pieces.slice(1, -1).flatMap((piece) => partsOf(piece.replace(/^\r\n/, '').replace(/\r\n$/, '')));
  }
  const content = decoded(body, header('Content-Transfer-Encoding').trim().toLowerCase());
  const fileName = /filename="?([^";]+)"?/.exec(header('Content-Disposition'))?.[1] ?? null;
  return [{ type: contentType.split(';')[0]!.trim(), fileName, content, text: content.toString() }];
}

function decoded(body: string, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(body, 'base64');
  if (encoding !== 'quoted-printable') return Buffer.from(body);
  const letters = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return Buffer.from(letters, 'latin1');
}
