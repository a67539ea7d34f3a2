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
    wallet_low: {
      subject: '{seller}: restam {amount} em {wallet}',
      intro: 'Seu saldo pré-pago está acabando.',
      closing: '',
    },
    top_up_failed: {
      subject: '{seller}: a recarga de {amount} falhou',
      intro:
        'Não foi possível cobrar sua recarga e nenhum crédito foi adicionado. Verifique sua forma de pagamento ou pague de outra maneira.',
      closing: '',
    },
    trial_ending: {
      subject: 'Seu período de teste em {seller} termina em {due_date}',
      intro:
        'Seu período de teste está terminando. Depois a assinatura continua paga, sem que você precise fazer nada.',
      closing: 'Se não quiser continuar, entre em contato conosco antes disso.',
    },
    subscription_ending: {
      subject: 'Sua assinatura em {seller} termina em {due_date}',
      intro: 'Sua assinatura está terminando. Até lá nada muda.',
      closing: 'Se quiser continuar, entre em contato conosco.',
    },
    usage_alert: {
      subject: '{seller}: o consumo de {subscription} atingiu {limit}',
      intro: 'Seu consumo atingiu um limite sobre o qual você queria ser avisado.',
      closing: '',
    },
    endpoint_disabled: {
      subject: 'Um endpoint de webhook de {seller} foi desativado',
      intro: 'Nada mais é enviado a este endpoint. Novos eventos não são guardados para ele até que seja reativado.',
      closing: '',
    },
    key_created: {
      subject: 'Uma nova chave de API de {seller}',
      intro: 'Uma chave de API foi criada. Quem a tem pode fazer o que suas permissões deixam.',
      closing: 'Se você não sabe dela, exclua a chave.',
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
  notices: {
    lasts: 'dura cerca de {days}',
    trialEnds: 'Fim do período de teste de {name}',
    subscriptionEnds: 'Fim da assinatura {name}',
    limit: 'Limite',
    endpoint: 'Endpoint',
    reason: 'Motivo',
    reasons: { failing: 'Todos os envios falham há cinco dias', gone: 'Respondeu que não existe mais (410)' },
    openWebhooks: 'Abrir os webhooks',
    name: 'Nome',
    lastFour: 'Termina em',
    createdOn: 'Criada em',
    openKeys: 'Abrir as chaves de API',
  },
};
