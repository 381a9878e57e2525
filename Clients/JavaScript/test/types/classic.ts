/// <reference path="../../cloudkit.d.cts" />

// In a classic script the name is a global one.
const container: CloudKit.Container = CloudKit.getDefaultContainer();
container.setUpAuth().then(user => user?.nameComponents?.givenName);
