/// The style sheet and the script of the pages.
enum StaticParts {
    static let style = """
        :root{color-scheme:light dark;--text:light-dark(#1c2733,#dde5ec);--back:light-dark(#f6f8fa,#141a20);
        --card:light-dark(#fff,#1d252d);--line:light-dark(#7d8894,#74808c);--link:light-dark(#0a5c8f,#7cc4f0);
        --act:light-dark(#0a5c8f,#1f6f9f);--bad:light-dark(#a3211b,#ff9d94);--risk:light-dark(#a3211b,#b3322b);--quiet:light-dark(#4a5763,#a9b6c1)}
        *{box-sizing:border-box}
        body{font:1rem/1.5 system-ui,sans-serif;color:var(--text);background:var(--back);margin:0}
        header{display:flex;gap:.6rem;align-items:center;max-width:30rem;margin:4vh auto 1rem;padding:0 1.5rem;
        font-weight:600;overflow-wrap:anywhere}header img{width:2rem;height:2rem;border-radius:.4rem;flex:none}
        main{max-width:30rem;margin:0 auto 4vh;padding:1.5rem;background:var(--card);border-radius:.75rem}
        h1{font-size:1.5rem;line-height:1.25;margin:0 0 1rem}h2{font-size:1.15rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1rem 0 .25rem}
        a{color:var(--link)}p{margin:.75rem 0;overflow-wrap:anywhere}.quiet{color:var(--quiet)}
        label{display:block;margin:1rem 0 .25rem}.check{display:flex;gap:.6rem;align-items:flex-start;margin:1rem 0}
        .check input{margin-top:.3rem;width:1.15rem;height:1.15rem;flex:none}.check label{margin:0}
        input:not([type=checkbox],[type=radio]){width:100%;font:inherit;color:inherit;background:var(--back);padding:.6rem .7rem;
        border:1px solid var(--line);border-radius:.4rem}
        button{font:inherit;padding:.6rem 1.1rem;border-radius:.4rem;border:1px solid var(--act);cursor:pointer;
        background:var(--act);color:#fff;min-height:2.75rem}
        button.second{background:transparent;color:var(--link);border-color:var(--line)}
        button.danger{background:var(--risk);border-color:var(--risk)}a.danger{color:var(--bad);font-weight:600}
        .warning{border:1px solid var(--bad);border-radius:.4rem;padding:.75rem 1rem}
        .row{display:flex;flex-wrap:wrap;gap:.75rem;margin:1.25rem 0 0}
        :focus-visible{outline:3px solid var(--link);outline-offset:2px}
        .problem{color:var(--bad);font-weight:600;border-inline-start:.25rem solid var(--bad);padding-inline-start:.75rem}
        .note{border-inline-start:.25rem solid var(--act);padding-inline-start:.75rem}
        [aria-invalid=true]{border-color:var(--bad)!important;border-width:2px!important}
        .app{display:flex;gap:.6rem;align-items:center}.app img{width:2.5rem;height:2.5rem;object-fit:contain;flex:none}
        li .app img{width:1.75rem;height:1.75rem}li p{margin:.25rem 0}
        pre{font:1rem/1.6 ui-monospace,monospace;background:var(--back);border:1px solid var(--line);border-radius:.4rem;
        padding:.75rem 1rem;user-select:all;overflow-x:auto}
        ul{list-style:none;margin:.5rem 0;padding:0}li{padding:.6rem 0;border-top:1px solid var(--line)}
        fieldset{border:0;margin:1rem 0 0;padding:0}legend{padding:0}
        form+form{margin-top:.75rem}li form{margin-top:.4rem}code{overflow-wrap:anywhere}img{max-width:100%;border-radius:.5rem}
        a.button{display:inline-block;padding:.6rem 1.1rem;border-radius:.4rem;background:var(--act);color:#fff;
        border:1px solid var(--act);text-decoration:none;min-height:2.75rem}
        a.button.second{background:transparent;color:var(--link);border-color:var(--line)}
        .card{border:1px solid var(--line);border-radius:.5rem;padding:1rem;margin:0 0 1rem;overflow-wrap:anywhere}
        .card h2,.card p{margin:.25rem 0}.card img{display:block;max-height:16rem;margin:0 auto .75rem}
        details{margin:1.25rem 0}summary{cursor:pointer;padding:.6rem 0}.qr svg{display:block;max-width:14rem}
        .code svg{display:block;width:13rem;height:auto;margin:1rem 0}
        @media(max-width:34rem){header{margin:1rem auto}main{margin:0;min-height:90vh;border-radius:0}}

        """

    /// Has the browser's authenticator answer what a form asks, and sends the form with the answer.
    static let passkey = """
        'use strict';
        const encode = buffer => btoa(String.fromCharCode(...new Uint8Array(buffer)))
          .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
        const decode = text => Uint8Array.from(
          atob(text.replaceAll('-', '+').replaceAll('_', '/')), letter => letter.charCodeAt(0));
        const ask = {
          use: data => navigator.credentials.get({publicKey: {
            challenge: decode(data.challenge), rpId: data.host, userVerification: 'preferred'}}),
          make: data => navigator.credentials.create({publicKey: {
            challenge: decode(data.challenge), rp: {id: data.host, name: data.server},
            user: {id: decode(data.user), name: data.name, displayName: data.name},
            pubKeyCredParams: [{type: 'public-key', alg: -7}, {type: 'public-key', alg: -257}],
            excludeCredentials: data.known.split(' ').filter(Boolean).map(
              id => ({type: 'public-key', id: decode(id)})),
            authenticatorSelection: {residentKey: 'required', userVerification: 'preferred'},
            attestation: 'none'}}),
        };
        for (const form of document.querySelectorAll('form[data-passkey]')) {
          form.hidden = !window.PublicKeyCredential;
          form.addEventListener('submit', async event => {
            event.preventDefault();
            const alert = form.querySelector('[role=alert]');
            try {
              const made = await ask[form.dataset.passkey](form.dataset);
              const {response} = made;
              const set = (name, value) => { form.elements.namedItem(name).value = value; };
              set('id', encode(made.rawId));
              set('client-data', encode(response.clientDataJSON));
              set('data', encode(response.attestationObject || response.authenticatorData));
              set('signature', response.signature ? encode(response.signature) : '');
              const keep = document.getElementById('keep');
              if (keep && keep.checked) set('keep', keep.value);
              form.submit();
            } catch (error) {
              alert.hidden = false;
              alert.textContent = form.dataset.problem;
            }
          });
        }

        """

    /// Takes the secret out of the address, whose fragment no server ever sees, and into the form.
    static let firstOperator = """
        'use strict';
        if (location.hash) {
          document.getElementById('secret').value = location.hash.slice(1);
          history.replaceState(null, '', location.pathname);
        }

        """

    /// Copies a text of the page; the button is there only where that is possible.
    static let copy = """
        'use strict';
        for (const button of document.querySelectorAll('button[data-copies]')) {
          button.hidden = !navigator.clipboard;
          button.addEventListener('click', async () => {
            const text = document.getElementById(button.dataset.copies).textContent;
            await navigator.clipboard.writeText(text);
            document.getElementById('copied').textContent = button.dataset.done;
          });
        }

        """

    /// Sends the outcome to the window that opened this one, for exactly the origin that asked for
    /// it.
    static let handOver = """
        'use strict';
        const {origin, token, error} = document.getElementById('outcome').dataset;
        if (window.opener) {
          window.opener.postMessage(
            error ? {errorMessage: error} : {ckWebAuthToken: token, ckSession: token}, origin);
          window.close();
        }

        """
}
