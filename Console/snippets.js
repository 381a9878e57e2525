// What a developer pastes first, for the place that they have just made. Every value is written in the quotes of its
// language, whatever it holds.

const json = value => JSON.stringify(value);
const shell = value => `'${value.replaceAll('\'', '\'\\\'\'')}'`;

/// A text whose lines begin at a bar: what stands before it is the source's, and not of the text.
const pasted = (parts, ...values) => String.raw({raw: parts.map(part => part.replace(/^ *\|/gm, ''))}, ...values).slice(1);

/// What a private database needs beside: somebody who has signed in.
export const languages = ({server, container, environment, token, client}) => [
  {name: 'Web', text: pasted`
    |<!doctype html>
    |<html lang="en">
    |<meta charset="utf-8">
    |<title>My app</title>
    |<div id="apple-sign-in-button"></div>
    |<script type="module">
    |  import CloudKit from ${json(`${server}${client}`)};
    |
    |  const container = CloudKit.configure({
    |    containers: [{
    |      containerIdentifier: ${json(container)},
    |      environment: ${json(environment)},
    |      apiTokenAuth: {apiToken: ${json(token)}, persist: true},
    |    }],
    |  }).getDefaultContainer();
    |
    |  const user = await container.setUpAuth() ?? await container.whenUserSignsIn();
    |  const {records: [note]} = await container.privateCloudDatabase.saveRecords([
    |    {recordType: 'Note', fields: {title: {value: 'Hello'}}}]);
    |  document.body.append(user.userRecordName, ' has saved ', note.recordName);
    |</script>
    |</html>
`},
  {name: 'Swift', text: pasted`
    |import Foundation
    |import LenticularCloudKit
    |
    |// tokenFromBrowser is yours: it shows the page, and returns the token that comes back.
    |let container = CKContainer(
    |    identifier: ${json(container)},
    |    service: CKServerAccess(
    |        url: URL(string: ${json(server)})!, environment: .${environment},
    |        apiToken: ${json(token)},
    |        credentials: .signIn { page in try await tokenFromBrowser(at: page) }))
    |
    |let note = CKRecord(recordType: "Note")
    |note["title"] = "Hello"
    |_ = try await container.privateCloudDatabase.save(note)
`},
  {name: 'Python', text: pasted`
    |import json, urllib.error, urllib.request
    |
    |server = ${json(`${server}/database/1/${container}/${environment}`)}
    |token = ${json(token)}
    |
    |def ask(path, body):
    |    request = urllib.request.Request(
    |        f"{server}/{path}?ckAPIToken={token}", json.dumps(body).encode(),
    |        {"Content-Type": "application/json"})
    |    try:
    |        return json.load(urllib.request.urlopen(request))
    |    except urllib.error.HTTPError as error:
    |        return json.load(error)
    |
    |# Until somebody has saved a Note: NOT_FOUND.
    |print(ask("public/records/query", {"query": {"recordType": "Note"}}))
`},
  {name: 'curl', text: pasted`
    |# Until somebody has saved a Note: NOT_FOUND.
    |curl ${shell(
      `${server}/database/1/${container}/${environment}/public/records/query?ckAPIToken=${token}`)} \\
    |  -d ${shell('{"query": {"recordType": "Note"}}')}
`},
];
