import { createServer, type Socket } from 'node:net';

export interface ReceivedMail {
  from: string;
  to: string[];
  /** Head and body as they came. */
  data: string;
}

/**
 * A mail server that keeps what it is given, and refuses the first `refused` mails as one that is busy. It answers an
 * address by `replies`, the first of which is used up each time, and a mail by `content` where that is given.
 */
export async function openMailServer({ refused = 0, replies = {} as Record<string, string[]>, content = '' } = {}) {
  const mails: ReceivedMail[] = [];
  const sockets = new Set<Socket>();
  let attempts = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    let mail: ReceivedMail = { from: '', to: [], data: '' };
    let isData = false;
    let text = '';
    const say = (line: string) => socket.write(`${line}\r\n`);
    const take = () => {
      attempts += 1;
      if (attempts <= refused) return say('451 busy');
      if (content !== '') return say(content);
      mails.push(mail);
      return say('250 taken');
    };
    const command = (line: string) => {
      const word = line.slice(0, 4).toUpperCase();
      if (word === 'MAIL') mail = { from: addressOf(line), to: [], data: '' };
      if (word === 'RCPT') {
        const reply = replies[addressOf(line)]?.shift();
        if (reply !== undefined) return say(reply);
        mail.to.push(addressOf(line));
      }
      if (word === 'DATA') isData = true;
      say(word === 'DATA' ? '354 go on' : word === 'QUIT' ? '221 bye' : '250 ok');
    };
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      for (;;) {
        const end = text.indexOf(isData ? '\r\n.\r\n' : '\r\n');
        if (end < 0) return;
        const part = text.slice(0, end);
        text = text.slice(end + (isData ? 5 : 2));
        if (!isData) command(part);
        else {
          isData = false;
          mail.data = part;
          take();
        }
      }
    });
    say('220 fake');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const addressOf = (line: string): string => /<([^>]*)>/.exec(line)?.[1] ?? '';
