"""An OpenID Connect provider for tests, made with Authlib: strict in what it takes, and it lies when told to.

It lets everybody in at once as the same person. A code is good once, for the client, the address and the verifier
that it was made for.
"""

import base64
import hashlib
import json
import secrets
import time
import urllib.parse
import warnings

with warnings.catch_warnings(record=True):
    # Authlib moves these to a package of its own, and says so at each import.
    from authlib.jose import JsonWebKey, jwt

from listener import Handler, Listener


class Answers(Handler):
    def do_GET(self):
        url = urllib.parse.urlparse(self.path)
        fields = dict(urllib.parse.parse_qsl(url.query))
        if url.path == "/.well-known/openid-configuration":
            self.answer_json({
                "issuer": self.server.issuer,
                "authorization_endpoint": f"{self.server.issuer}/authorize",
                "token_endpoint": f"{self.server.issuer}/token",
                "jwks_uri": f"{self.server.issuer}/keys",
                "token_endpoint_auth_methods_supported": ["client_secret_basic"]})
        elif url.path == "/keys":
            self.answer_json({"keys": [self.server.key.as_dict(is_private=False)]})
        elif url.path == "/authorize":
            self.authorize(fields)
        else:
            self.send_error(404)

    def authorize(self, fields):
        server = self.server
        assert fields["client_id"] == server.client, fields
        assert fields["redirect_uri"] == server.redirect, (fields, server.redirect)
        assert fields["response_type"] == "code" and "openid" in fields["scope"].split(), fields
        assert fields["code_challenge_method"] == "S256", fields
        code = secrets.token_urlsafe()
        server.codes[code] = fields
        back = {"code": "wrong" if server.lie == "code" else code, "state": fields["state"]}
        if not server.form_post:
            self.send_response(302)
            self.send_header(
                "Location", f"{fields['redirect_uri']}?{urllib.parse.urlencode(back)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        inputs = "".join(f'<input name="{name}" value="{value}">' for name, value in back.items())
        body = (f'<!doctype html><form method="post" action="{fields["redirect_uri"]}">{inputs}'
                "</form><script>document.forms[0].submit()</script>").encode()
        self.answer(body)

    def do_POST(self):
        server = self.server
        fields = dict(urllib.parse.parse_qsl(self.body().decode()))
        expected = base64.b64encode(f"{server.client}:{server.secret}".encode()).decode()
        asked = server.codes.pop(fields.get("code"), None)
        if self.headers["Authorization"] != f"Basic {expected}" or asked is None:
            return self.answer_json({"error": "invalid_grant"}, 400)
        digest = hashlib.sha256(fields["code_verifier"].encode()).digest()
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != asked["code_challenge"]:
            server.verifiers_refused += 1
            return self.answer_json({"error": "invalid_grant"}, 400)
        assert fields["redirect_uri"] == asked["redirect_uri"], fields
        self.answer_json({
            "access_token": "x", "token_type": "Bearer", "id_token": self.token(asked["nonce"])})

    def token(self, nonce):
        server, now = self.server, int(time.time())
        claims = {
            "iss": server.issuer, "aud": server.client, "sub": "subject 1", "nonce": nonce,
            "iat": now, "exp": now + 300, "email": "ann@example.org", "email_verified": True}
        claims.update({
            "nonce": {"nonce": "another"}, "issuer": {"iss": "https://evil.example"},
            "audience": {"aud": "another"}, "expired": {"exp": now - 120},
            "early": {"iat": now + 3_600}, "subject": {"sub": ""},
        }.get(server.lie, {}))
        if server.lie == "none":
            parts = [json.dumps(part).encode() for part in ({"alg": "none"}, claims)]
            return ".".join(base64.urlsafe_b64encode(p).decode().rstrip("=") for p in parts) + "."
        if server.lie == "hs256":
            key = JsonWebKey.import_key(server.secret.encode(), {"kty": "oct"})
            return jwt.encode({"alg": "HS256"}, claims, key).decode()
        key = JsonWebKey.generate_key("EC", "P-256", is_private=True) \
            if server.lie == "key" else server.key
        header = {"alg": "ES256", "kid": server.key.as_dict()["kid"]}
        return jwt.encode(header, claims, key).decode()

    def answer_json(self, body, status=200):
        self.answer(json.dumps(body).encode(), status, "application/json")


class Provider(Listener):
    def __init__(self):
        super().__init__(Answers)
        self.issuer = f"http://127.0.0.1:{self.server_port}"
        self.client, self.secret, self.redirect = "lenticular", "a-secret", None
        self.key = JsonWebKey.generate_key("EC", "P-256", {"kid": "key-1"}, is_private=True)
        self.codes, self.lie, self.form_post, self.verifiers_refused = {}, None, False, 0
