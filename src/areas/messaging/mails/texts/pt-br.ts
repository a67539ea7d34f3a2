import type { MailTexts } from './mail-texts.ts';

export const ptBr: MailTexts = {
  words: {
    invoice: {
      subject: 'Fatura {number} de {seller}: {amount}, vencimento em {due_date}',
      intro: 'Sua fatura {number} está anexada em PDF.',
      closing: '',
    },
    credit_note: {
      subject: 'Nota de crédito {number} de {seller}: {amount}',
      intro: 'Sua nota de crédito {number} está anexada em PDF.',
      closing: '',
    },
    payment_receipt: {
      subject: 'Recibo {number} de {seller}: {amount}',
      intro: 'Obrigado pelo seu pagamento. O recibo {number} está anexado em PDF.',
      closing: '',
    },
    invoice_overdue: {
      subject: 'Lembrete: {amount} em atraso com {seller}',
      intro: 'Talvez tenha passado despercebido: estas faturas continuam em aberto.',
      closing: 'Se você já pagou, desconsidere esta mensagem.',
    },
    payment_request: {
      subject: '{seller}: pagamento de {amount}',
      intro: 'Estas faturas de {seller} estão vencidas:',
      closing: '',
    },
    payment_action: {
      subject: '{seller}: Confirme o seu pagamento',
      intro: 'Este pagamento está esperando por você.',
      closing: '',
    },
    payment_failed: {
      subject: '{seller}: o pagamento de {amount} falhou',
      intro: 'Não foi possível cobrar a fatura {number}. Você pode pagá-la de outra forma.',
      closing: '',
    },
    portal_link: {
      subject: 'Seu link para suas páginas em {seller}',
      intro: 'Aqui está o novo link para suas faturas, seu consumo e suas formas de pagamento.',
      closing: 'Se você não o pediu, não precisa fazer nada.',
    },
    details_changed: {
      subject: 'Seus dados de cobrança em {seller} foram alterados',
      intro: 'O e-mail das suas faturas foi alterado nas suas páginas. Este endereço não recebe mais faturas.',
      closing: 'Se não foi você, responda a este e-mail.',
    },
  },
  settled: 'Fatura {number} de {seller}',
  firm: {
    subject: 'Ainda em atraso: {amount} com {seller}',
    intro: 'Apesar do nosso lembrete, estas faturas continuam em aberto. Pague-as agora, por favor.',
  },
  final: {
    subject: 'Último lembrete: {amount} em atraso com {seller}',
    intro: 'Este é o último lembrete destas faturas em atraso. Pague sem demora ou entre em contato conosco.',
  },
  overdueBy: '{days} em atraso',
  pages: 'Ver suas faturas e seu consumo',
  worksFor: 'O link funciona por {hours} horas.',
  openPages: 'Abrir minhas páginas',
  keepLink: 'O link funciona por {hours} horas. Quem o tem pode abrir suas páginas: não o repasse.',
};
